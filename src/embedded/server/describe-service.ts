import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { API_PREFIX, INTERFACE_VERSION } from '../../contract/routes.ts'
import { BODY_IS_OPTIONAL, ERROR_MEANINGS, ERROR_SHAPE, WITHOUT_COMPILERS } from '../http/describe-endpoint.ts'
import { ENDPOINTS } from '../routes/endpoints.ts'

export const TITLE = 'Knowledge Library Service (embedded)'

const ABOUT = [
  'A complete Knowledge Library Service on one machine. Errors are JSON with `message` and, for 422, `errors` by field.',
  'What exists but may not be accessed is answered with 403, what does not exist with 404, another method on a path with 405.',
].join(' ')

const BEARER = { type: 'http', scheme: 'bearer' } as const
const SIGNATURE = { type: 'apiKey', in: 'query', name: 'signature' } as const

/** What is refused before it reaches an operation. */
const REFUSALS = Object.fromEntries(
  [400, 405, 408].map((status) => [
    `Status${status}`,
    {
      description: ERROR_MEANINGS[status] ?? '',
      ...(status === 405 && { headers: { allow: { schema: { type: 'string' as const } } } }),
      content: { 'application/json': { schema: ERROR_SHAPE } },
    },
  ]),
)

interface Marked {
  [BODY_IS_OPTIONAL]?: boolean
  readonly requestBody: { required: boolean }
}

function isMarked(operation: unknown): operation is Marked {
  return typeof operation === 'object' && operation !== null && BODY_IS_OPTIONAL in operation
}

/** Returns the OpenAPI description, by a server that never listens: the plugin has to see each route come. */
export async function describeService(): Promise<object> {
  await using app = fastify({ exposeHeadRoutes: false, schemaController: WITHOUT_COMPILERS })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(swagger, {
    stripBasePath: true,
    openapi: {
      openapi: '3.1.0',
      info: { title: TITLE, version: INTERFACE_VERSION, description: ABOUT },
      servers: [{ url: API_PREFIX }],
      // The plugin leaves out each parameter that a security scheme names, so it sees none named "signature".
      components: { securitySchemes: { bearer: BEARER, signature: { ...SIGNATURE, name: 'signed URL' } } },
    },
    transformObject: (found) => {
      const document = 'openapiObject' in found ? found.openapiObject : found.swaggerObject
      // The plugin takes every body for required.
      const operations = Object.values(document.paths ?? {}).flatMap((path): unknown[] => Object.values(path ?? {}))
      for (const operation of operations.filter(isMarked)) {
        operation.requestBody.required = false
        delete operation[BODY_IS_OPTIONAL]
      }
      return {
        ...document,
        components: { securitySchemes: { bearer: BEARER, signature: SIGNATURE }, responses: REFUSALS },
      }
    },
  })
  for (const each of Object.values(ENDPOINTS)) each.describe(app)
  await app.ready()
  return app.swagger()
}
