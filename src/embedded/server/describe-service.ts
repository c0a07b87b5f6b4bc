import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { API_PREFIX, INTERFACE_VERSION, OPENAPI_PATH } from '../../contract/routes.ts'
import { notFound } from '../http/api-error.ts'
import { BODY_IS_OPTIONAL, ERROR_MEANINGS, ERROR_SHAPE } from '../http/describe-endpoint.ts'
import type { ReferencePages } from './reference-pages.ts'

export const DOCUMENTATION_PATH = '/api/documentation'

const TITLE = 'Knowledge Library Service (embedded)'

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

/** Prepares the OpenAPI description; it covers the routes that are added afterwards. */
export async function describeService(app: FastifyInstance): Promise<void> {
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
}

/**
 * Serves the machine-readable description and an interactive reference for people (section 1), both without a credential. The
 * reference is loaded with the first request for it.
 */
export function showDescription(app: FastifyInstance): void {
  const [descriptionPath = '/docs'] = OPENAPI_PATH.split('?')
  const options = { schema: { hide: true }, exposeHeadRoute: true }
  app.get(descriptionPath, options, (_request, reply) => reply.send(app.swagger()))
  let pages: Promise<ReferencePages> | undefined
  for (const path of [DOCUMENTATION_PATH, `${DOCUMENTATION_PATH}/*`]) {
    app.get(path, options, async ({ url, headers }, reply) => {
      pages ??= import('./reference-pages.ts').then(({ openReferencePages }) =>
        openReferencePages(app.swagger(), DOCUMENTATION_PATH, TITLE),
      )
      const { status, body, ...answer } = await (await pages).answer(url, headers)
      if (status === 404) throw notFound('Page')
      return reply.code(status).headers(answer.headers).send(body)
    })
  }
  app.addHook('onClose', async () => await (await pages)?.close())
}
