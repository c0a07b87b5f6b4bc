import { createSecureContext, type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { openTunnel, placeOf, type TunnelProxy, targetOf } from './proxy.ts'
import { openSecureSocket } from './sockets.ts'

export interface Way {
  /** The proxy to the service; undefined: none. */
  readonly proxy: TunnelProxy | undefined
  /** Trusted authorities (PEM); undefined: Node's. */
  readonly authorities: readonly string[] | undefined
  /** Aborts attempts to connect. */
  readonly signal: AbortSignal | undefined
}

/**
 * Creates the connections of a pool to an https origin. A connection is ready only when the service's certificate was
 * checked: before that no byte of a request leaves, even if a proxy reports success.
 */
export function createConnector(origin: string, { proxy, authorities, signal }: Way): buildConnector.connector {
  const place = placeOf(origin)
  let context: SecureContext | undefined
  let session: Buffer | undefined
  const open = async () => {
    // Reading some hundred certificates takes time, so the first connection does it for all.
    if (authorities) context ??= createSecureContext({ ca: [...authorities] })
    const tunnel = proxy && (await openTunnel(proxy, targetOf(origin), { context, session: undefined, signal }))
    try {
      const socket = await openSecureSocket(place, { context, session, signal }, tunnel)
      socket.on('session', (newSession) => {
        session = newSession
      })
      return socket
    } catch (error) {
      tunnel?.destroy()
      throw error
    }
  }
  return (_, callback) => {
    open().then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error('no connection'), null),
    )
  }
}
