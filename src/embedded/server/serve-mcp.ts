import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Grant } from '../access/grant.ts'
import { forbidden, unauthorized } from '../http/api-error.ts'
import { authenticate } from '../http/endpoint.ts'
import { MAX_MESSAGE_BYTES } from '../mcp/mcp-access.ts'
import type { McpEndpoint } from '../mcp/mcp-endpoint.ts'
import type { Service } from '../service-parts.ts'

/** The path of the endpoint for agents. */
export const MCP_PATH = '/mcp'

/** Serves agents over the Model Context Protocol, whose code is loaded with the first request. */
export function serveMcp(app: FastifyInstance, service: Service): void {
  let endpoint: Promise<McpEndpoint> | undefined
  const grants = new WeakMap<FastifyRequest, Grant>()
  app.route({
    method: 'POST',
    url: MCP_PATH,
    bodyLimit: MAX_MESSAGE_BYTES,
    onRequest: (request, _reply, done) => {
      grants.set(request, admit(service, request))
      done()
    },
    handler: async (request, reply) => {
      endpoint ??= import('../mcp/mcp-endpoint.ts').then(({ createMcpEndpoint }) => createMcpEndpoint(service))
      const grant = grants.get(request) ?? admit(service, request)
      return reply.send(await (await endpoint).answer(request, grant, closeSignalOf(reply)))
    },
  })
  app.addHook('onClose', async () => await (await endpoint)?.close())
}

/** Returns the grant of the request's token. Throws 401 if the token is missing or not valid, 403 if it is not for agents. */
function admit(service: Service, request: FastifyRequest): Grant {
  const grant = authenticate(service, request.headers.authorization)
  if (!grant) throw unauthorized('A credential is needed')
  if (!grant.interfaces.includes('mcp')) throw forbidden('to use the interface "mcp"')
  return grant
}

/** Returns a signal that is aborted if the client closes the connection before the response has ended. */
function closeSignalOf({ raw }: FastifyReply): AbortSignal {
  const closing = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) closing.abort()
  })
  return closing.signal
}
