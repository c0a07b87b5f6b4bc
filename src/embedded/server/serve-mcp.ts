import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Grant } from '../access/grant.ts'
import { forbidden, unauthorized } from '../http/api-error.ts'
import { authenticate } from '../http/endpoint.ts'
import type { McpEndpoint } from '../mcp/mcp-endpoint.ts'
import type { Service } from '../service-parts.ts'

/** The agent tool endpoint. */
export const MCP_PATH = '/mcp'

/** An uploaded document comes in one message, in base64 if it is not text. */
const MAX_MESSAGE_BYTES = 32 * 2 ** 20

/** Serves agents. The protocol's code is loaded with the first request. */
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
      return reply.send(await (await endpoint).answer(request, grant, closingOf(reply)))
    },
  })
  app.addHook('onClose', async () => await (await endpoint)?.close())
}

/** Throws 401 without a valid credential, 403 when it is not for agents. */
function admit(service: Service, request: FastifyRequest): Grant {
  const grant = authenticate(service, request.headers.authorization)
  if (!grant) throw unauthorized('A credential is needed')
  if (!grant.interfaces.includes('mcp')) throw forbidden('to use the interface "mcp"')
  return grant
}

/** Aborted when the client goes away before the answer has ended. */
function closingOf({ raw }: FastifyReply): AbortSignal {
  const closing = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) closing.abort()
  })
  return closing.signal
}
