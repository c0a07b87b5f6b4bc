import fastify, { type FastifyInstance } from 'fastify'
import { invalid } from '../http/api-error.ts'
import { servePage } from '../page/serve-page.ts'
import { ENDPOINTS } from '../routes/endpoints.ts'
import type { Service } from '../service.ts'
import { checkHost } from './check-host.ts'
import { describeService, showDescription } from './describe-service.ts'
import { enforceRequestLimits } from './enforce-request-limits.ts'
import { answerErrorsAsJson, answerUnreadable, sendError, toApiError } from './error-answers.ts'
import { refuseUnknownRoutes } from './refuse-unknown-routes.ts'
import { MAX_HEADER_BYTES, MAX_JSON_BYTES, type RequestLimits } from './request-limits.ts'
import { serveAgents } from './serve-agents.ts'

/** The longest interval between checks for connections whose headers take too long. */
const MAX_CHECKING_MS = 5_000

/** Builds the HTTP server of a service that will listen on `host`: every endpoint of the contract, their description, JSON errors. */
export async function buildServer(service: Service, host: string, limits: RequestLimits): Promise<FastifyInstance> {
  const { headersMs } = limits
  const app = fastify({
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // Any identifier that fits into the headers is accepted; an unknown one answers 404.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    bodyLimit: MAX_JSON_BYTES,
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, _request, reply) => sendError(reply, toApiError(error)),
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(headersMs, MAX_CHECKING_MS),
    },
  })
  // Endpoints validate with the shapes of the contract; the schemas of the routes only describe.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  enforceRequestLimits(app, limits, service.clock)
  checkHost(app, host, service.publicUrl)
  refuseUnknownRoutes(app)
  acceptBodies(app)
  answerErrorsAsJson(app, service.logger)
  await describeService(app)
  for (const each of Object.values(ENDPOINTS)) each.register(app, service)
  showDescription(app)
  serveAgents(app, service)
  servePage(app)
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
