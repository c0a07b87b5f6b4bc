import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { OPENAPI_PATH, ROUTES } from '../../../src/contract/routes.ts'
import { startLibrary } from '../temporary-library.ts'

const content = z.record(z.string(), z.looseObject({ schema: z.looseObject({}), example: z.unknown().optional() }))
const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  tags: z.array(z.string()),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(1), content: content.optional() })),
  parameters: z
    .array(
      z.looseObject({ name: z.string(), schema: z.looseObject({ type: z.string() }), example: z.unknown().optional() }),
    )
    .optional(),
})
const description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })

async function readOperations() {
  const { library } = await startLibrary()
  const { paths } = description.parse(await (await fetch(library.url + OPENAPI_PATH)).json())
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({ ...each, method: method.toUpperCase(), path })),
  )
}

test('the description names each operation as the contract does', async () => {
  const operations = await readOperations()
  const named = operations.map(({ operationId, method, path }) => [operationId, { method, path }])
  expect(Object.fromEntries(named)).toEqual(ROUTES)
  expect(operations).toHaveLength(Object.keys(ROUTES).length)
})

test('the description lists throttling for each operation', async () => {
  for (const { operationId, responses } of await readOperations()) {
    expect([operationId, responses['429']?.description]).toEqual([operationId, 'Too many requests'])
  }
})

test('the description types the parameters of signed URLs as the interface does', async () => {
  const expected = { expires: 'integer', tenant_id: 'integer', disposition: 'string' }
  const downloads = (await readOperations()).filter(({ operationId }) => operationId.startsWith('download'))
  expect(downloads).toHaveLength(4)
  for (const { operationId, parameters = [] } of downloads) {
    const types = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema.type]))
    expect([operationId, types]).toEqual([operationId, expect.objectContaining(expected)])
  }
})

test('the description sorts operations by subject, by words alone', async () => {
  const operations = await readOperations()
  expect(operations.filter(({ summary }) => !/^[A-Z][a-z]/.test(summary))).toEqual([])
  const names = (of: string) => operations.flatMap(({ tags, operationId }) => (tags[0] === of ? [operationId] : []))
  expect(names('directories').sort()).toEqual(['createDirectory', 'listDirectory'])
  expect(names('access')).toEqual(['checkAccess'])
  const subjects = new Set(operations.flatMap(({ tags }) => tags))
  expect([...subjects].sort()).toEqual(['access', 'assets', 'directories', 'libraries', 'resources', 'search'])
})

test('each operation has an example, and each example is valid', async () => {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  for (const { operationId, parameters = [], requestBody, responses } of await readOperations()) {
    const bodies = Object.entries({ ...responses, sent: { content: requestBody?.content } }).flatMap(([name, each]) =>
      name < '3' || name === 'sent' ? [each.content?.['application/json'] ?? []].flat() : [],
    )
    for (const { schema, example } of bodies)
      expect([operationId, example, ajv.validate(schema, example), ajv.errorsText()]).toEqual([
        operationId,
        expect.anything(),
        true,
        'No errors',
      ])
    const named = parameters.filter(({ example }) => example !== undefined)
    expect([operationId, bodies.length + named.length]).not.toEqual([operationId, 0])
  }
})

test('the description says what may be left out, and which values and headers there are', async () => {
  const { library } = await startLibrary()
  const described = z.object({ paths: z.record(z.string(), z.any()), components: z.any() })
  const { paths, components } = described.parse(await (await fetch(library.url + OPENAPI_PATH)).json())
  const required = Object.values<Record<string, { operationId: string; requestBody?: { required: boolean } }>>(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, requestBody }) => (requestBody ? [[operationId, requestBody.required]] : []))
  expect(Object.fromEntries(required)).toEqual({
    createAssetViewUrl: false,
    createDirectory: true,
    createLibrary: true,
    createResourceViewUrl: false,
    uploadFile: true,
  })
  const answer = (path: string, method: string, status: number) => paths[path][method].responses[status]
  const schema = (path: string, method = 'get', status = 200) =>
    answer(path, method, status).content['application/json'].schema
  const access = schema('/v1/auth/check').properties
  expect(access.user.anyOf[0].properties.email.format).toBe('email')
  expect(access.grant_type.enum).toEqual(['access_token', 'connected_app'])
  expect(access.interfaces.items.enum).toEqual(['api', 'mcp'])
  expect(access.abilities.items.enum).toContain('library.all.read')
  expect(schema('/v1/libraries/{library}').properties.created_at.format).toBe('date-time')
  const resource = schema('/v1/libraries/{library}/resources/{resource}')
  expect(resource.properties.ingestion_status.enum).toHaveLength(6)
  expect(schema('/v1/assets/{asset}/view-urls', 'post')).toMatchObject({
    required: expect.arrayContaining(['representation']),
    properties: { representation: { enum: ['content', 'scene', 'frame'] }, url: { format: 'uri' } },
  })
  expect(answer('/v1/libraries', 'post', 201).headers).toHaveProperty('location')
  expect(answer('/v1/libraries/{library}/directory', 'post', 201).headers).toHaveProperty('location')
  expect(answer('/v1/resources/{resource}', 'get', 200).headers).toHaveProperty('content-disposition')
  expect(answer('/v1/assets/{asset}/representations/frame', 'get', 503).description).toContain('ffmpeg')
  for (const status of [413, 415, 421, 431, 507])
    expect(answer('/v1/libraries/{library}/files', 'post', status).description).not.toBe('Error')
  expect(components.responses).toHaveProperty('Status405')
})
