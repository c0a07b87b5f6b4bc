import type { FastifyRequest } from 'fastify'
import type { Service } from '../service.ts'

/** The origin of the absolute URLs of 4.5, 4.7 and 4.16: the public URL if one is set, otherwise where this request came in. */
export function originOf({ publicUrl }: Pick<Service, 'publicUrl'>, request: FastifyRequest): string {
  if (publicUrl !== undefined) return publicUrl
  const { localAddress, localPort } = request.socket
  const host = request.host || `${localAddress?.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  return `http://${host}`
}
