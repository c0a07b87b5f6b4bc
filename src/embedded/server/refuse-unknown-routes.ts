import type { FastifyInstance } from 'fastify'
import { API_PREFIX, OPENAPI_PATH, ROUTES } from '../../contract/routes.ts'
import { PAGE_FILES_PATH } from '../../foundation/http/page-files.ts'
import { ApiError } from '../http/api-error.ts'
import { DOCUMENTATION_PATH } from './serve-description.ts'
import { MCP_PATH } from './serve-mcp.ts'
import { PAGE_PATH } from './serve-page.ts'

const PATHS = [
  ...Object.values(ROUTES).map(({ method, path }) => ({ method, pattern: patternOf(API_PREFIX + path) })),
  ...[OPENAPI_PATH.replace(/\?.*/, ''), DOCUMENTATION_PATH, PAGE_PATH].map((path) => ({
    method: 'GET',
    pattern: patternOf(path),
  })),
  { method: 'GET', pattern: new RegExp(`^${DOCUMENTATION_PATH}/`) },
  { method: 'GET', pattern: patternOf(`${PAGE_FILES_PATH}/{name}`) },
  { method: 'POST', pattern: patternOf(MCP_PATH) },
]

/** Answers what no endpoint handles: 405 with `Allow` when the path takes other methods, otherwise 404. Reads no body. */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const [path = ''] = request.url.split('?', 1)
    const methods = allowedMethods(path)
    if (methods.length === 0) throw new ApiError(404, `There is no ${request.method} ${path}`)
    reply.header('allow', methods.join(', '))
    throw new ApiError(405, `${request.method} is not allowed here, only ${methods.join(' and ')}`)
  })
}

function allowedMethods(path: string): string[] {
  const methods = PATHS.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : []))
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
