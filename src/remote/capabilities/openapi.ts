import { FIELD_NAME } from '../../contract/identifier.ts'
import { truncateText } from '../../foundation/text/safe-text.ts'

/**
 * A field of a request body, as an instance's OpenAPI document (3.0 or 3.1) describes it. The document comes from outside
 * and may hold anything; the functions below skip what does not fit.
 */
export interface BodyField {
  readonly name: string
  readonly required: boolean
  /** True if the field takes free text: a string, but no choice, file, identifier, date or address, under a name that can be sent. */
  readonly isText: boolean
  readonly description: string
}

interface OperationKey {
  readonly method: string
  /** A template like `/v1/libraries/{library}`. */
  readonly path: string
}

/** The media types of a body, in order of preference. */
const ANY_BODY = [/^application\/(?:[\w.-]+\+)?json/i, /^multipart\/form-data/i, /^application\/x-www-form-urlencoded/i]
export const MULTIPART_BODY = [/^multipart\/form-data/i]

/** Returns the fields of an operation's request body; undefined if the document does not describe them. */
export function bodyFieldsOf(
  document: unknown,
  key: OperationKey,
  mediaTypes: readonly RegExp[] = ANY_BODY,
): readonly BodyField[] | undefined {
  const scope = { document, stepsLeft: MAX_STEPS }
  const content = Object.entries(record(record(follow(scope, findOperation(scope, key)?.requestBody)).content))
  const media = mediaTypes.map((type) => content.find(([name]) => type.test(name))).find((found) => found !== undefined)
  const schema = record(media?.[1]).schema
  if (schema === undefined) return undefined
  return [...collectFields(scope, schema, 0)].map(([name, found]) => describe(scope, name, found))
}

export function describesOperation(document: unknown, key: OperationKey): boolean {
  return findOperation({ document, stepsLeft: MAX_STEPS }, key) !== undefined
}

/** Returns `info.version`, the version of the interface that the instance describes. */
export function versionOf(document: unknown): string | undefined {
  const { version } = record(record(document).info)
  return typeof version === 'string' ? truncateText(version, 60) : undefined
}

type Json = Readonly<Record<string, unknown>>

/** Bounds for a document that refers to itself or is endless on purpose. */
const MAX_DEPTH = 24
const MAX_STEPS = 5_000

interface Scope {
  readonly document: unknown
  stepsLeft: number
}

/** A description names one to three servers; with each, all paths are compared. */
const MAX_SERVERS = 20

/** Finds an operation even if paths include `/api`, a server's URL includes the prefix, or parameters have other names. */
function findOperation(scope: Scope, { method, path: route }: OperationKey): Json | undefined {
  const { servers, paths } = record(scope.document)
  const prefixes = [
    '',
    ...list(servers)
      .slice(0, MAX_SERVERS)
      .map((server) => pathnameOf(record(server).url)),
  ]
  return Object.entries(record(paths))
    .filter(([path]) => prefixes.some((prefix) => shapeOf(prefix + path).endsWith(shapeOf(route))))
    .sort(([one], [other]) => one.length - other.length)
    .map(([, item]) => record(record(follow(scope, item))[method.toLowerCase()]))
    .find((operation) => Object.keys(operation).length > 0)
}

function shapeOf(path: string): string {
  return path
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/\{[^{}]*\}/g, '{}')
}

function pathnameOf(url: unknown): string {
  return typeof url === 'string' ? (URL.parse(url, 'http://localhost')?.pathname ?? '') : ''
}

interface Found {
  readonly required: boolean
  readonly schemas: readonly unknown[]
}

/** Returns all properties that a body may have. A property of `oneOf` or `anyOf` is required only if every variant requires it. */
function collectFields(scope: Scope, schemaOrRef: unknown, depth: number): Map<string, Found> {
  const fields = new Map<string, Found>()
  if (depth > MAX_DEPTH || scope.stepsLeft-- <= 0) return fields
  const schema = record(follow(scope, schemaOrRef))
  for (const [name, property] of Object.entries(record(schema.properties))) {
    fields.set(name, { required: false, schemas: [property] })
  }
  for (const part of list(schema.allOf)) merge(fields, collectFields(scope, part, depth + 1))
  const variants = [...list(schema.oneOf), ...list(schema.anyOf)].map((part) => collectFields(scope, part, depth + 1))
  merge(fields, unite(variants.filter((variant) => variant.size > 0)))
  for (const name of list(schema.required).map(String)) {
    const found = fields.get(name)
    if (found) fields.set(name, { ...found, required: true })
  }
  return fields
}

function merge(into: Map<string, Found>, from: Map<string, Found>): void {
  for (const [name, { required, schemas }] of from) {
    const other = into.get(name)
    into.set(name, { required: required || other?.required === true, schemas: [...(other?.schemas ?? []), ...schemas] })
  }
}

function unite(variants: readonly Map<string, Found>[]): Map<string, Found> {
  const united = new Map<string, Found>()
  for (const variant of variants) merge(united, variant)
  for (const [name, found] of united) {
    united.set(name, { ...found, required: variants.every((variant) => variant.get(name)?.required === true) })
  }
  return united
}

const NO_TEXT = ['enum', 'const', 'contentMediaType', 'contentEncoding']
const NO_TEXT_FORMAT = /^(?:binary|byte|password|uuid|ulid|date|date-time|time|email|uri|url)$/

function describe(scope: Scope, name: string, { required, schemas }: Found): BodyField {
  const parts = schemas.flatMap((schema) => flatten(scope, schema, 0))
  const types = parts.flatMap(({ type }) => type).filter((type) => type !== undefined && type !== 'null')
  const isNoText = parts.some((part) => NO_TEXT.some((key) => key in part) || NO_TEXT_FORMAT.test(String(part.format)))
  const isText = FIELD_NAME.test(name) && !isNoText && types.every((type) => type === 'string')
  const description = parts
    .flatMap((part) => (typeof part.description === 'string' ? [part.description] : []))
    .join(' ')
  return { name, required, isText, description }
}

/** Returns a schema and all schemas that it refers to or combines, as a flat list. */
function flatten(scope: Scope, schemaOrRef: unknown, depth: number): Json[] {
  if (depth > MAX_DEPTH || scope.stepsLeft-- <= 0) return []
  const schema = { ...record(follow(scope, schemaOrRef)), ...record(schemaOrRef) }
  const parts = [...list(schema.allOf), ...list(schema.oneOf), ...list(schema.anyOf)]
  return [schema, ...parts.flatMap((part) => flatten(scope, part, depth + 1))]
}

/** Resolves a local `$ref` (`#/components/…`); returns any other value unchanged. */
function follow(scope: Scope, value: unknown): unknown {
  let current = value
  for (let steps = 0; steps < MAX_DEPTH; steps += 1) {
    const { $ref } = record(current)
    if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return current
    const keys = $ref
      .slice(2)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    current = keys.reduce((at: unknown, key) => record(at)[key], scope.document)
  }
  return undefined
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
