import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { ROUTES, type RouteName } from '../../contract/routes.ts'

/** The description of an endpoint in OpenAPI. */
export interface EndpointDescription {
  /** Also its `operationId`. */
  readonly route: RouteName
  readonly summary: string
  /** Says what this service does where the interface leaves it open. */
  readonly description?: string
  /** Whether the endpoint accepts signed URLs in place of a bearer credential. */
  readonly takesSignedUrl?: boolean
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** The schema of a body that the handler reads as a stream. */
  readonly form?: object
  readonly responses: Readonly<Record<number, ResponseDescription>>
  readonly errors: readonly number[]
}

export interface ResponseDescription {
  readonly description: string
  readonly shape?: z.ZodType
  /** The media type of a body that is not JSON. */
  readonly mediaType?: string
  /** JSON schemas of the headers that the response always has. */
  readonly headers?: Readonly<Record<string, object>>
}

const refuse = (): never => {
  throw new Error('No schema is compiled')
}

/** Keeps Fastify from loading its compilers of schemas: endpoints validate with the shapes of the contract. */
export const WITHOUT_COMPILERS = { compilersFactory: { buildValidator: refuse, buildSerializer: refuse } }

/** The key that marks the schema of a route whose body may be left out. */
export const BODY_IS_OPTIONAL = 'x-body-is-optional'

export const ERROR_SHAPE = {
  type: 'object',
  required: ['message'] as string[],
  properties: {
    message: { type: 'string' },
    errors: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
  },
} as const

export const ERROR_MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is not valid HTTP',
  401: 'Missing or invalid credential or signature',
  403: 'The credential lacks the needed ability or library right',
  404: 'Not found',
  405: 'The path has other methods, which `Allow` names',
  408: 'The body did not arrive in time',
  409: 'It exists already',
  413: 'The file or the body is larger than this instance accepts',
  415: 'The body is of another media type',
  416: 'The file has no bytes in this range',
  421: 'Requests with this `Host` are not answered',
  422: 'Validation error; `errors` holds messages by field',
  429: 'Too many requests',
  431: 'The headers are too long',
  500: 'Internal error',
  503: 'The service is stopping, or it cannot make a picture of a video now, for example without ffmpeg',
  507: 'The disk of the library is full',
}

const ERROR_HEADERS: Readonly<Record<number, Readonly<Record<string, object>>>> = {
  401: { 'www-authenticate': { type: 'string' } },
  416: { 'content-range': { type: 'string' } },
}

/** Builds the fastify schema of an endpoint. It only describes: fastify neither validates nor serializes with it. */
export function describeEndpoint(spec: EndpointDescription): FastifySchema {
  const { path } = ROUTES[spec.route]
  const schema: FastifySchema = {
    tags: [tagOf(path)],
    operationId: spec.route,
    summary: spec.summary,
    security: spec.takesSignedUrl ? [{ bearer: [] }, { signature: [] }] : [{ bearer: [] }],
    response: { ...describeResponses(spec.responses), ...describeErrors([...spec.errors, 421, 429, 431, 500, 503]) },
  }
  if (spec.description !== undefined) schema.description = spec.description
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, { type: 'string', examples: [ID] }])
  if (ids.length > 0) schema.params = { type: 'object', properties: Object.fromEntries(ids) }
  if (spec.query) schema.querystring = jsonSchema(spec.query, 'input')
  if (spec.body) schema.body = jsonSchema(spec.body, 'input')
  if (spec.body?.safeParse(undefined).success) Object.assign(schema, { [BODY_IS_OPTIONAL]: true })
  if (spec.form) Object.assign(schema, { body: spec.form, consumes: ['multipart/form-data'] })
  return schema
}

/** Returns the OpenAPI tag of a path: the kind of thing that it names. */
function tagOf(path: string): string {
  const [, , first = '', , below = first] = path.split('/')
  const word = first === 'libraries' ? below : first
  return { auth: 'access', directory: 'directories', files: 'resources' }[word] ?? word
}

function describeResponses(responses: EndpointDescription['responses']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { description, shape, mediaType, headers }]) => [
      status,
      mediaType
        ? {
            description,
            ...(headers && { headers }),
            content: { [mediaType]: { schema: { type: 'string', format: 'binary' } } },
          }
        : { description, ...(headers && { headers }), ...(shape ? jsonSchema(shape, 'output') : { type: 'null' }) },
    ]),
  )
}

function describeErrors(statuses: readonly number[]): Record<string, unknown> {
  return Object.fromEntries(
    statuses.map((status) => {
      const headers = ERROR_HEADERS[status]
      return [status, { description: ERROR_MEANINGS[status], ...(headers && { headers }), ...ERROR_SHAPE }]
    }),
  )
}

function jsonSchema(shape: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    // zod leaves out the default of a value that is transformed.
    override({ zodSchema, jsonSchema: described }) {
      if (zodSchema instanceof z.ZodDefault) described.default ??= zodSchema.def.defaultValue
    },
  })
  return { ...schema, examples: [exampleOf(schema)] }
}

const ID = 'dGlkZXMubWQ'

/** The values of fields in examples, by name. Any other field gets the first value that its schema allows. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  tenant: { id: 1, name: 'Embedded library', slug: 'embedded' },
  id: ID,
  name: 'Papers',
  path: '/Papers',
  paths: ['/Papers/tides.md'],
  mime_type: 'text/markdown',
  ingestion_status: 'completed',
  ingestion_warnings: [],
  text_extracted: true,
  text: 'The spring tide follows the new moon.',
  excerpt: 'The **spring tide** follows the new moon.',
  excerpt_marks: [[4, 15]],
  trace: [{ unit: 'line', from: 1, to: 1 }],
  notice: 'Candidates, not verified answers: check excerpts against the source.',
  url: `http://127.0.0.1:8080/api/v1/assets/${ID}?expires=1795168800&signature=0f1e2d`,
}

function exampleOf(schema: z.core.JSONSchema._JSONSchema, name = ''): unknown {
  if (typeof schema === 'boolean') return undefined
  const { type, properties, items } = schema
  const sample = SAMPLES[name] ?? schema.const ?? schema.default ?? schema.enum?.[0]
  if (sample !== undefined) return sample
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties ?? {}).map(([key, each]) => [key, exampleOf(each, key)]))
  if (type === 'array') return [items ?? false].flat().map((each) => exampleOf(each))
  if (type === 'integer') return Math.max(10, schema.minimum ?? 10)
  if (type === 'boolean') return false
  if (type === 'string') return schema.format === 'date-time' ? '2026-11-20T09:30:00Z' : 'tides.md'
  return type === 'number' ? undefined : null
}
