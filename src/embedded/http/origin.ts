import type { FastifyRequest } from 'fastify'

/** The origin under which the client reached this service, for the absolute URLs of 4.5, 4.7 and 4.16. */
export function originOf(request: FastifyRequest): string {
  const { localAddress, localPort } = request.socket
  const host = request.host || `${localAddress?.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  return `http://${host}`
}
