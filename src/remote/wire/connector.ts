import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { MessagePort } from 'node:worker_threads'
import type { buildConnector } from 'undici'
import { systemCodeOf } from '../../foundation/errors.ts'
import { hostPortOf, openTunnel, type TunnelProxy } from './proxy.ts'
import { openSecureSocket, openSocket } from './sockets.ts'

/** A certificate of our own, with its key. */
export interface ClientCertificate {
  /** Its file, for messages. */
  readonly file: string
  /** PEM: the certificate itself first, then those of authorities. */
  readonly chain: string
  /** PEM, decrypted; a secret. */
  readonly key: string
  readonly validToMs: number
  /** The name of the authority that issued it. */
  readonly issuer: string | undefined
}

/** Finds a service on this machine that moves from one process and port to another. */
export interface Whereabouts {
  /** Returns whether the service has the port, not another program. Called when a connection is open and nothing has been sent. */
  isAt(origin: string): Promise<boolean>
  /** Finds the service again, or starts it; returns its present origin. */
  relocate(): Promise<string>
  /** Accepts small uploads while the service runs in a thread of this process; undefined while it does not. */
  readonly uploadPort?: MessagePort | undefined
}

export interface ConnectOptions {
  /** The proxy to the service; undefined: none. */
  readonly proxy: TunnelProxy | undefined
  /** Trusted authorities (PEM); undefined: Node's. */
  readonly authorities: readonly string[] | undefined
  /** The certificate that the service demands; undefined: none. A proxy never gets it. */
  readonly clientCertificate: ClientCertificate | undefined
  /** Finds a service on this machine whose address changes; undefined: the address is fixed. */
  readonly whereabouts?: Whereabouts | undefined
  /** Aborts attempts to connect. */
  readonly signal: AbortSignal | undefined
  readonly onConnected?: (socket: Socket) => void
}

/**
 * Returns the function that opens connections for a pool. A connection to an https origin is ready only when the service's certificate
 * was checked: no byte of a request leaves before, even if a proxy reports success. Plain HTTP stays on this computer: no proxy, no TLS.
 */
export function createConnector(origin: string, options: ConnectOptions): buildConnector.connector {
  const open = origin.startsWith('http:') ? plainly(origin, options) : securely(origin, options)
  return (_, callback) => {
    open().then(
      (socket) => {
        options.onConnected?.(socket)
        callback(null, socket)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('no connection'), null),
    )
  }
}

function plainly(origin: string, { whereabouts, signal }: ConnectOptions): () => Promise<Socket> {
  if (!whereabouts) return () => openSocket(hostPortOf(origin), signal)
  let current = origin
  const openAt = async (address: string) => {
    const socket = await openSocket(hostPortOf(address), signal)
    socket.on('error', () => {})
    if ((await whereabouts.isAt(address)) && !socket.destroyed) return socket
    socket.destroy()
    throw new MovedAway()
  }
  return async () => {
    const tried = current
    try {
      return await openAt(tried)
    } catch (error) {
      if (signal?.aborted || systemCodeOf(error) !== 'ECONNREFUSED') throw error
      // Another attempt to connect may have found the service meanwhile.
      if (current === tried) current = await whereabouts.relocate()
      return openAt(current)
    }
  }
}

/** Thrown if another program has the port: this counts as if no program listened there. */
class MovedAway extends Error {
  readonly code = 'ECONNREFUSED'
}

function securely(origin: string, options: ConnectOptions): () => Promise<Socket> {
  let contexts: Contexts | undefined
  let session: Buffer | undefined
  return async () => {
    // Reading some hundred certificates takes time, so it is done once, for the first connection.
    contexts ??= createContexts(options)
    const socket = await connectSecurely(origin, options, contexts, session)
    socket.on('session', (newSession) => {
      session = newSession
    })
    return socket
  }
}

/** Connects to an https origin, through the proxy if there is one. */
export async function connectSecurely(
  origin: string,
  { proxy, signal }: Pick<ConnectOptions, 'proxy' | 'signal'>,
  { ofProxy, ofService }: Contexts,
  session?: Buffer,
): Promise<TLSSocket> {
  const tunnel = proxy && (await openTunnel(proxy, origin, { context: ofProxy, signal }))
  try {
    return await openSecureSocket(hostPortOf(origin), { context: ofService, session, signal }, tunnel)
  } catch (error) {
    tunnel?.destroy()
    throw error
  }
}

/** What TLS connections to the proxy and to the service trust and show; undefined: Node's authorities, and no client certificate. */
interface Contexts {
  readonly ofProxy: SecureContext | undefined
  readonly ofService: SecureContext | undefined
}

export function createContexts({ proxy, authorities, clientCertificate }: Omit<ConnectOptions, 'signal'>): Contexts {
  const trust = authorities && { ca: [...authorities] }
  if (!clientCertificate) {
    const context = trust && createSecureContext(trust)
    return { ofProxy: context, ofService: context }
  }
  const { chain: cert, key } = clientCertificate
  const ofProxy = trust && proxy?.origin.startsWith('https:') ? createSecureContext(trust) : undefined
  return { ofProxy, ofService: createSecureContext({ ...trust, cert, key }) }
}
