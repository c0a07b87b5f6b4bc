import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { openTunnel, placeOf, type TunnelProxy, targetOf } from './proxy.ts'
import { openSecureSocket, openSocket } from './sockets.ts'

export interface Way {
  /** The proxy to the service; undefined: none. */
  readonly proxy: TunnelProxy | undefined
  /** Trusted authorities (PEM); undefined: Node's. */
  readonly authorities: readonly string[] | undefined
  /** Aborts attempts to connect. */
  readonly signal: AbortSignal | undefined
}

/**
 * Creates the connections of a pool. A connection to an https origin is ready only when the service's certificate was checked:
 * before that no byte of a request leaves, even if a proxy reports success. Plain HTTP stays on this computer: no proxy, no TLS.
 * `onConnected` receives each connection that is ready.
 */
export function createConnector(
  origin: string,
  way: Way,
  onConnected?: (socket: Socket) => void,
): buildConnector.connector {
  const open = origin.startsWith('http:') ? () => openSocket(placeOf(origin), way.signal) : securely(origin, way)
  return (_, callback) => {
    open().then(
      (socket) => {
        onConnected?.(socket)
        callback(null, socket)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('no connection'), null),
    )
  }
}

function securely(origin: string, { proxy, authorities, signal }: Way): () => Promise<Socket> {
  const place = placeOf(origin)
  let context: SecureContext | undefined
  let session: Buffer | undefined
  return async () => {
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
}
