import type { IncomingHttpHeaders } from 'node:http'
import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance } from 'fastify'
import { API_PREFIX, INTERFACE_VERSION } from '../../contract/routes.ts'
import { BODY_IS_OPTIONAL, ERROR_MEANINGS, ERROR_SHAPE, WITHOUT_COMPILERS } from '../http/describe-endpoint.ts'
import { ENDPOINTS } from '../routes/endpoints.ts'

const TITLE = 'Knowledge Library Service (embedded)'

const DESCRIPTION = [
  'A complete Knowledge Library Service on one machine. Errors are JSON with `message` and, for 422, `errors` by field.',
  'The answer is 404 if something does not exist, 403 if the credential may not access it, and 405 if the path has other methods.',
].join(' ')

const BEARER = { type: 'http', scheme: 'bearer' } as const
const SIGNATURE = { type: 'apiKey', in: 'query', name: 'signature' } as const

/** The error responses to requests that reach no operation. */
const ERROR_RESPONSES = Object.fromEntries(
  [400, 405, 408].map((status) => [
    `Status${status}`,
    {
      description: ERROR_MEANINGS[status] ?? '',
      ...(status === 405 && { headers: { allow: { schema: { type: 'string' as const } } } }),
      content: { 'application/json': { schema: ERROR_SHAPE } },
    },
  ]),
)

interface OptionalBodyOperation {
  [BODY_IS_OPTIONAL]?: boolean
  readonly requestBody: { required: boolean }
}

function hasOptionalBody(operation: unknown): operation is OptionalBodyOperation {
  return typeof operation === 'object' && operation !== null && BODY_IS_OPTIONAL in operation
}

/** Returns the OpenAPI description. A server that never listens makes it, because the plugin has to see each route being added. */
export async function describeService(): Promise<object> {
  await using app = fastify({ exposeHeadRoutes: false, schemaController: WITHOUT_COMPILERS })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(swagger, {
    stripBasePath: true,
    openapi: {
      openapi: '3.1.0',
      info: { title: TITLE, version: INTERFACE_VERSION, description: DESCRIPTION },
      servers: [{ url: API_PREFIX }],
      // The plugin omits parameters that have the name of a security scheme, so the scheme is called "signature" only afterwards.
      components: { securitySchemes: { bearer: BEARER, signature: { ...SIGNATURE, name: 'signed URL' } } },
    },
    transformObject: (found) => {
      const document = 'openapiObject' in found ? found.openapiObject : found.swaggerObject
      // The plugin describes every body as required.
      const operations = Object.values(document.paths ?? {}).flatMap((path): unknown[] => Object.values(path ?? {}))
      for (const operation of operations.filter(hasOptionalBody)) {
        operation.requestBody.required = false
        delete operation[BODY_IS_OPTIONAL]
      }
      return {
        ...document,
        components: { securitySchemes: { bearer: BEARER, signature: SIGNATURE }, responses: ERROR_RESPONSES },
      }
    },
  })
  for (const each of Object.values(ENDPOINTS)) each.describe(app)
  await app.ready()
  return app.swagger()
}

/** Lets the reference load and call only its own server; frames, forms and plugins are forbidden. */
const CONTENT_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

export type ReferencePages = Awaited<ReturnType<typeof openReferencePages>>

/** The request headers that are passed on to the plugin. */
const PASSED_HEADERS = ['if-none-match', 'if-modified-since', 'range']

/**
 * Prepares the interactive reference of an OpenAPI document below the path `prefix`, in a server of its own that never listens. The main
 * server should not load these plugins before it listens, and cannot load them afterwards.
 */
export async function openReferencePages(document: object, prefix: string) {
  // Loaded here, because the description does not need it.
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  const app = fastify({ exposeHeadRoutes: false, schemaController: WITHOUT_COMPILERS })
  await app.register(swagger, { openapi: {}, transformObject: () => document })
  await app.register(swaggerUi, {
    routePrefix: prefix,
    staticCSP: CONTENT_POLICY,
    theme: { title: TITLE },
    // `BaseLayout` omits the bar with which users could load the description of another server.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, displayOperationId: true, validatorUrl: null },
  })
  await app.ready()
  return {
    /** Answers a GET of a page or a file. */
    answer: (url: string, headers: IncomingHttpHeaders) => answer(app, url, headers),
    close: () => app.close(),
  }
}

async function answer(app: FastifyInstance, url: string, headers: IncomingHttpHeaders) {
  const passed = Object.fromEntries(
    PASSED_HEADERS.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])),
  )
  const { statusCode, headers: found, rawPayload } = await app.inject({ url, headers: passed })
  const sent = Object.entries(found).filter(([name]) => !['connection', 'transfer-encoding', 'date'].includes(name))
  return {
    status: statusCode,
    headers: {
      ...Object.fromEntries(sent.map(([name, value]) => [name, String(value)])),
      'x-content-type-options': 'nosniff',
    },
    body: rawPayload,
  }
}
