import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { API_PREFIX, OPENAPI_PATH, ROUTES } from '../../contract/routes.ts'
import { PAGE_FILES_PATH } from '../../foundation/http/page-files.ts'
import { hostNameOf, isLoopback } from '../../foundation/network/loopback.ts'
import { ApiError, invalid } from '../http/api-error.ts'
import { WITHOUT_COMPILERS } from '../http/describe-endpoint.ts'
import { ENDPOINTS } from '../routes/endpoints.ts'
import type { Service } from '../service-parts.ts'
import { answerErrorsAsJson, answerUnreadable, sendError, toApiError } from './error-responses.ts'
import { enforceRequestLimits, MAX_HEADER_BYTES, MAX_JSON_BYTES, type RequestLimits } from './request-limits.ts'
import { MCP_PATH, serveMcp } from './serve-mcp.ts'
import { DOCUMENTATION_PATH, PAGE_PATH, serveDescription, servePage } from './serve-pages.ts'

/** The longest interval between two checks for connections whose headers take too long. */
const MAX_CHECK_INTERVAL_MS = 5_000

/** Builds the HTTP server of a service, with all endpoints and web pages; it will listen on `host`, but does not yet. */
export function buildServer(service: Service, host: string, limits: RequestLimits): FastifyInstance {
  const { headersMs } = limits
  const app = fastify({
    exposeHeadRoutes: false,
    schemaController: WITHOUT_COMPILERS,
    forceCloseConnections: 'idle',
    // Any identifier that fits into the headers is accepted; an unknown one is answered with 404.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    bodyLimit: MAX_JSON_BYTES,
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, _request, reply) => sendError(reply, toApiError(error)),
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(headersMs, MAX_CHECK_INTERVAL_MS),
    },
  })
  enforceRequestLimits(app, limits, service.clock)
  checkHost(app, host, service.publicUrl)
  refuseUnknownRoutes(app)
  acceptBodies(app)
  answerErrorsAsJson(app, service.logger)
  for (const each of Object.values(ENDPOINTS)) each.register(app, service)
  serveDescription(app)
  serveMcp(app, service)
  servePage(app, service.program)
  return app
}

function acceptBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain')
  // The endpoint of uploads reads the body as a stream.
  app.addContentTypeParser('multipart/form-data', (_request, _body, done) => done(null))
  // A body that is optional may also be empty.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) =>
    text === '' ? undefined : parseJson(text),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('body', 'The body is not valid JSON')
  }
}

/**
 * Answers 421 to requests with a wrong `Host`. If there is a public URL, only its host and the names of this machine are accepted. If there
 * is none and the server listens on loopback, requests without a credential must name this machine, so that a web page whose name resolves
 * to this machine learns nothing. Other servers accept any `Host`, because they do not know their own names.
 */
function checkHost(app: FastifyInstance, listensOn: string, publicUrl: string | undefined): void {
  if (publicUrl === undefined && !isLoopback(listensOn)) return
  app.addHook('onRequest', (request, _reply, done) => {
    const { host } = request.headers
    if (isLoopback(hostNameOf(host))) return done()
    if (publicUrl === undefined) {
      if (hasCredential(request)) return done()
      throw new ApiError(421, 'Requests without a credential must go to a name of this machine, such as localhost')
    }
    if (isHostOf(publicUrl, host)) return done()
    throw new ApiError(421, `Only requests to ${publicUrl} are answered; a proxy must pass on the Host of the request`)
  })
}

function hasCredential({ headers, url }: FastifyRequest): boolean {
  return headers.authorization !== undefined || new URL(url, 'http://localhost').searchParams.has('signature')
}

/** Returns whether a `Host` header names the host and port of the URL. The default port may be written out. */
function isHostOf(publicUrl: string, header = ''): boolean {
  const { protocol, host, port } = new URL(publicUrl)
  const asked = header.toLowerCase()
  return asked === host || (port === '' && asked === `${host}:${protocol === 'https:' ? 443 : 80}`)
}

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

/** Answers requests that no endpoint handles: 405 with `Allow` if the path has other methods, otherwise 404. Reads no body. */
function refuseUnknownRoutes(app: FastifyInstance): void {
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
