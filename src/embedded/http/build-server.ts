import fastify, { type FastifyInstance } from 'fastify'
import { messageOf } from '../../foundation/errors.ts'
import { ENDPOINTS } from '../routes/endpoints.ts'
import type { Service } from '../service.ts'
import { invalid } from './api-error.ts'
import { describeService, showDescription } from './describe-service.ts'
import { answerErrorsAsJson } from './error-answers.ts'

// A percent-encoded library path of the greatest length fits into the request line.
const MAX_HEADER_BYTES = 64 * 1024

/** The HTTP side of a service: every endpoint of the contract, its description, and JSON errors. */
export async function buildServer(service: Service): Promise<FastifyInstance> {
  const app = fastify({
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 512 },
    http: { maxHeaderSize: MAX_HEADER_BYTES },
  })
  // Endpoints validate with the shapes of the contract; the schemas of the routes only describe.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  acceptBodies(app)
  answerErrorsAsJson(app, service.logger)
  await describeService(app)
  for (const each of Object.values(ENDPOINTS)) each.register(app, service)
  showDescription(app)
  return app
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
