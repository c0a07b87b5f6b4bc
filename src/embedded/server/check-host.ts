import type { FastifyInstance, FastifyRequest } from 'fastify'
import { hostNameOf, isLoopback } from '../../foundation/network/loopback.ts'
import { ApiError } from '../http/api-error.ts'

/**
 * Answers 421 to requests whose `Host` this server should not have. With a public URL, only its host and the names of this machine
 * pass. Without one, a server on loopback refuses foreign names to requests without a credential, so that a web page whose name
 * resolves to this machine learns nothing; the names of a server that listens elsewhere are not known.
 */
export function checkHost(app: FastifyInstance, listensOn: string, publicUrl: string | undefined): void {
  if (publicUrl === undefined && !isLoopback(listensOn)) return
  app.addHook('onRequest', (request, _reply, done) => {
    const { host } = request.headers
    if (isLoopback(hostNameOf(host))) return done()
    if (publicUrl === undefined) {
      if (hasCredential(request)) return done()
      throw new ApiError(421, 'Without a credential only names of this machine are answered, such as localhost')
    }
    if (isHostOf(publicUrl, host)) return done()
    throw new ApiError(
      421,
      `Only requests to ${publicUrl} are answered; a proxy must pass on the Host that it was asked for`,
    )
  })
}

function hasCredential({ headers, url }: FastifyRequest): boolean {
  return headers.authorization !== undefined || new URL(url, 'http://localhost').searchParams.has('signature')
}

/** Compares hosts and ports; the port of the scheme may be written out. */
function isHostOf(publicUrl: string, header = ''): boolean {
  const { protocol, host, port } = new URL(publicUrl)
  const asked = header.toLowerCase()
  return asked === host || (port === '' && asked === `${host}:${protocol === 'https:' ? 443 : 80}`)
}
