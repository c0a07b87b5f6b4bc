import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { API_PREFIX, INTERFACE_VERSION, OPENAPI_PATH } from '../../contract/routes.ts'

export const DOCUMENTATION_PATH = '/api/documentation'

const ABOUT = [
  'A complete Knowledge Library Service on one machine. Errors are JSON with `message` and, for 422, `errors` by field.',
  'What exists but may not be accessed is answered with 403, what does not exist with 404.',
].join(' ')

const BEARER = { type: 'http', scheme: 'bearer' } as const
const SIGNATURE = { type: 'apiKey', in: 'query', name: 'signature' } as const

/** Prepares the OpenAPI description; it covers the routes that are added afterwards. */
export async function describeService(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    stripBasePath: true,
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Knowledge Library Service (embedded)', version: INTERFACE_VERSION, description: ABOUT },
      servers: [{ url: API_PREFIX }],
      // The plugin leaves out each parameter that a security scheme names, so it sees none named "signature".
      components: { securitySchemes: { bearer: BEARER, signature: { ...SIGNATURE, name: 'signed URL' } } },
    },
    transformObject: (found) => ({
      ...('openapiObject' in found ? found.openapiObject : found.swaggerObject),
      components: { securitySchemes: { bearer: BEARER, signature: SIGNATURE } },
    }),
  })
}

/** Serves the machine-readable description and a page for people (section 1), both without a credential. */
export function showDescription(app: FastifyInstance): void {
  const [descriptionPath = '/docs'] = OPENAPI_PATH.split('?')
  const options = { schema: { hide: true }, exposeHeadRoute: true }
  app.get(descriptionPath, options, (_request, reply) => reply.send(app.swagger()))
  app.get(DOCUMENTATION_PATH, options, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(documentationPage(app.swagger().paths ?? {})),
  )
}

function documentationPage(paths: object): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationHtml(method, path, operation)),
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Knowledge Library Service</title>
<style>body{font:16px/1.5 system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}code{font-size:1.05em}</style>
<h1>Knowledge Library Service</h1><p>${escapeHtml(ABOUT)}</p>
<p>Paths are relative to <code>${API_PREFIX}</code>. <a href="${OPENAPI_PATH}">The whole description (OpenAPI 3.1)</a></p>
${operations.join('\n')}</html>
`
}

function operationHtml(method: string, path: string, operation: unknown): string {
  const { summary = '', description = '' } = asTexts(operation)
  const heading = `<h2><code>${method.toUpperCase()} ${escapeHtml(path)}</code></h2>`
  return `${heading}<p><b>${escapeHtml(summary)}</b></p><p>${escapeHtml(description)}</p>`
}

function asTexts(operation: unknown): Record<string, string> {
  if (typeof operation !== 'object' || operation === null) return {}
  return Object.fromEntries(Object.entries(operation).filter(([, value]) => typeof value === 'string'))
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)
}
