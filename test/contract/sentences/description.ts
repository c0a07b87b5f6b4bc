import assert from 'node:assert/strict'
import { z } from 'zod'
import { API_PREFIX, ROUTES, type RouteName } from '../../../src/contract/routes.ts'
import { conforms } from '../suite/assert-answer.ts'
import type { Examination } from '../suite/examination.ts'
import { assertion, type Sentence, sentence } from '../suite/sentence.ts'

type Facts = Readonly<Record<string, unknown>>

interface Expected {
  readonly section: string
  readonly statuses: readonly number[]
  /** Facts of the schema of each query parameter, and whether it is `required`. */
  readonly query?: Readonly<Record<string, Facts>>
  /** Facts of the schema of each field of the body. */
  readonly body?: Readonly<Record<string, Facts>>
}

const DISPOSITION = { type: 'string', enum: ['inline', 'attachment'], default: 'inline' }
const SIGNED = {
  signature: { type: 'string', required: false },
  expires: { type: 'integer', required: false },
  tenant_id: { type: 'integer', required: false },
  disposition: { ...DISPOSITION, required: false },
}
const MOMENT = { type: 'number', minimum: 0 }
const PAGE = { type: 'integer', minimum: 1, maximum: 500, required: false }
const CURSOR = { type: 'string', required: false }
const USUAL = [429, 500, 503]

/** The calls whose parameters and errors the interface lists. */
const EXPECTED: Readonly<Partial<Record<RouteName, Expected>>> = {
  checkAccess: { section: '4.1', statuses: [200, 401, 403, ...USUAL] },
  downloadAsset: { section: '4.2', statuses: [200, 401, 403, 404, ...USUAL], query: SIGNED },
  downloadScene: {
    section: '4.3',
    statuses: [200, 401, 403, 404, 422],
    query: { ...SIGNED, timestamp_seconds: { ...MOMENT, required: true } },
  },
  downloadFrame: {
    section: '4.4',
    statuses: [200, 401, 403, 404, 422, 503],
    query: { ...SIGNED, timestamp_seconds: { ...MOMENT, required: true } },
  },
  createAssetViewUrl: {
    section: '4.5',
    statuses: [200, 401, 403, 404, 422, ...USUAL],
    body: {
      representation: { type: 'string', enum: ['content', 'scene', 'frame'], default: 'content' },
      timestamp_seconds: MOMENT,
      ttl_minutes: { type: 'integer', minimum: 1, maximum: 60, default: 15 },
      disposition: DISPOSITION,
    },
  },
  listLibraries: {
    section: '4.6',
    statuses: [200, 401, 403, ...USUAL],
    query: { limit: { ...PAGE, default: 50 }, cursor: CURSOR },
  },
  createLibrary: { section: '4.7', statuses: [201, 401, 403, 422, ...USUAL] },
  showLibrary: { section: '4.8', statuses: [200, 401, 403, 404, ...USUAL] },
  deleteLibrary: { section: '4.9', statuses: [204, 401, 403, 404, ...USUAL] },
  listDirectory: {
    section: '4.10',
    statuses: [200, 401, 403, 404, 422, ...USUAL],
    query: {
      path: { type: 'string', default: '/', required: false },
      limit: { ...PAGE, default: 100 },
      cursor: CURSOR,
    },
  },
  createDirectory: { section: '4.11', statuses: [201, 401, 403, 404, 409, 422, ...USUAL] },
  uploadFile: { section: '4.12', statuses: [200, 201], body: { file: { type: 'string' } } },
  showResource: { section: '4.13', statuses: [200] },
  searchResources: {
    section: '4.14',
    statuses: [200],
    query: {
      query: { type: 'string' },
      'library_ids[]': { type: 'array' },
      strategy: { type: 'string' },
      limit: { type: 'integer' },
      output_format: { type: 'string' },
    },
  },
  downloadResource: { section: '4.15', statuses: [200] },
  createResourceViewUrl: {
    section: '4.16',
    statuses: [200],
    body: { ttl_minutes: { type: 'integer' }, disposition: { type: 'string' } },
  },
}

/** Section 4: what the description of the instance must have for each call. */
export const descriptions: readonly Sentence[] = Object.entries(EXPECTED).map(([name, expected]) => {
  const { method, path } = routeOf(name)
  return sentence(
    `${expected.section} The parameters and the answers of ${method} ${path}.`,
    assertion(`the description names the parameters and answers of ${method} ${path}`, async (it) => {
      const operation = await findOperation(it, method, path)
      const missing = expected.statuses.filter((status) => !Object.hasOwn(operation.responses, String(status)))
      assert.deepEqual(missing, [], 'statuses that the description does not name')
      for (const [field, facts] of Object.entries(expected.query ?? {})) {
        const found = operation.parameters.find((each) => each.name === field && each.in === 'query')
        assert.ok(found, `the query parameter ${field} is not described`)
        compare(field, { ...found.schema, required: found.required ?? false }, facts)
      }
      for (const [field, facts] of Object.entries(expected.body ?? {})) {
        compare(field, operation.bodyFields[field], facts)
      }
    }),
  )
})

function routeOf(name: string): { method: string; path: string } {
  const [, route] = Object.entries(ROUTES).find(([each]) => each === name) ?? []
  if (!route) throw new Error(`There is no route ${name}`)
  return route
}

function compare(field: string, found: Facts | undefined, facts: Facts): void {
  assert.ok(found, `${field} is not described`)
  const same = Object.fromEntries(Object.keys(facts).map((key) => [key, found[key]]))
  assert.deepEqual(same, facts, `of ${field}`)
}

const record = z.record(z.string(), z.unknown())
const operationShape = z.looseObject({
  parameters: z.array(record).default([]),
  requestBody: record.optional(),
  responses: record,
})
const parameterShape = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  schema: record.default({}),
})
const bodyShape = z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: record.default({}) })) })

async function findOperation(it: Examination, method: string, path: string) {
  const document = await it.description()
  const anyName = (text: string) => text.replaceAll(/\{\w+\}/g, '{}')
  const ends = [path, API_PREFIX + path, path.slice('/v1'.length)].map(anyName)
  const [, item] = Object.entries(conforms(record, document.paths)).find(([key]) => ends.includes(anyName(key))) ?? []
  assert.ok(item, `${path} is not described`)
  const operation = conforms(operationShape, conforms(record, item)[method.toLowerCase()])
  const [body] = Object.values(
    operation.requestBody ? conforms(bodyShape, follow(document, operation.requestBody)).content : {},
  )
  const fields = body ? conforms(record, follow(document, body.schema).properties ?? {}) : {}
  return {
    responses: operation.responses,
    parameters: operation.parameters.map((each) => conforms(parameterShape, follow(document, each))),
    bodyFields: Object.fromEntries(
      Object.entries(fields).map(([name, schema]) => [name, follow(document, conforms(record, schema))]),
    ),
  }
}

/** Follows one local reference, if the value is one. */
function follow(document: Facts, value: Facts): Facts {
  const { $ref: reference } = value
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return value
  const found = reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, part) => conforms(record, at)[part], document)
  return conforms(record, found)
}
