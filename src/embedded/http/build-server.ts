import fastify, { type FastifyInstance } from 'fastify'
import { messageOf } from '../../foundation/errors.ts'
import { hostNameOf, isLoopback } from '../../foundation/loopback.ts'
import { ENDPOINTS } from '../routes/endpoints.ts'
import type { Service } from '../service.ts'
import { ApiError, invalid } from './api-error.ts'
import { describeService, showDescription } from './describe-service.ts'
import { answerErrorsAsJson } from './error-answers.ts'

// A percent-encoded library path of the greatest length fits into the request line.
const MAX_HEADER_BYTES = 64 * 1024

/** The HTTP side of a service that is to listen on `host`: every endpoint of the contract, its description, and JSON errors. */
export async function buildServer(service: Service, host: string): Promise<FastifyInstance> {
  const app = fastify({
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512 },
    http: { maxHeaderSize: MAX_HEADER_BYTES },
  })
  // Endpoints validate with the shapes of the contract; the schemas of the routes only describe.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  if (isLoopback(host)) refuseForeignPages(app)
  acceptBodies(app)
  answerErrorsAsJson(app, service.logger)
  await describeService(app)
  for (const each of Object.values(ENDPOINTS)) each.register(app, service)
  showDescription(app)
  return app
}

/** What is open to everybody is for this machine alone: not for a page whose name was made to resolve to it, which has no credential. */
function refuseForeignPages(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { host, authorization } = request.headers
    const isSigned = new URL(request.url, 'http://localhost').searchParams.has('signature')
    if (authorization === undefined && !isSigned && !isLoopback(hostNameOf(host))) {
      throw new ApiError(421, 'Without a credential only names of this machine are answered, such as localhost')
    }
    done()
  })
}

function acceptBodies(app: FastifyInstance): void {
  // Uploads are read by their endpoint, as a stream.
  app.addContentTypeParser('multipart/form-data', (_request, _body, done) => done(null))
  // Bodies that may be left out may also be empty.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) =>
    text === '' ? undefined : parseJson(text),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid('body', `The body is not JSON: ${messageOf(error)}`)
  }
}
