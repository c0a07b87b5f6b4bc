import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { INTERFACE_VERSION } from '../../contract/routes.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Grant } from '../access/grant.ts'
import type { Service } from '../service-parts.ts'
import { createMcpServer } from './create-mcp-server.ts'
import { accessOf } from './grant-access.ts'

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>

/** The endpoint for agents: the Model Context Protocol over HTTP, without sessions. */
export function createMcpEndpoint(service: Service) {
  const grants = new WeakMap<Request, Grant>()
  // A program sends no Origin; a web page sends its own, and only those of this machine and of the public URL may ask.
  const origins = [...localhostAllowedOrigins(), ...(service.publicUrl ? [new URL(service.publicUrl).hostname] : [])]
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const grant = requestInfo && grants.get(requestInfo)
      if (!grant) throw new Error('The request of an agent has no grant')
      return createMcpServer(accessOf(service, grant), INTERFACE_VERSION, requestInfo.signal)
    },
    { onerror: (error) => service.logger.debug('an agent was refused', { error: messageOf(error) }) },
  )
  return {
    /** Answers one request of a grant. */
    async answer({ method, url, headers, body }: FastifyRequest, grant: Grant, signal: AbortSignal): Promise<Response> {
      const request = new Request(new URL(url, 'http://localhost'), { method, headers: toHeaders(headers), signal })
      const refused = originValidationResponse(request, origins)
      if (refused) return refused
      grants.set(request, grant)
      // The body is read already: without this the SDK would read it again, and fail where it is empty.
      const response = await handler.fetch(request, { parsedBody: body ?? null })
      // The SDK sets "keep-alive" even if the client asked to close the connection, and such a client would wait for its end.
      response.headers.delete('connection')
      return response
    },
    close: () => handler.close(),
  }
}

function toHeaders(headers: FastifyRequest['headers']): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    ),
  )
}
