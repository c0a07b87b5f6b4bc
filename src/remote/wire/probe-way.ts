import type { Clock } from '../../foundation/clock.ts'
import { createContexts, type Way } from './connector.ts'
import { openTunnel, placeOf, targetOf } from './proxy.ts'
import type { ServiceRequest } from './request.ts'
import { openSecureSocket } from './sockets.ts'
import { finalError, networkError, TransientFailure } from './transient-failure.ts'

export interface ProbedWay extends Way {
  /** The https origin of the service. */
  readonly origin: string
  readonly clock: Clock
}

/** Opens and closes a tunnel through the proxy; throws as a request would whose proxy gives none. */
export async function probeProxy(way: ProbedWay): Promise<void> {
  const { proxy, signal } = way
  if (!proxy) return
  await explaining(way, async () => {
    const tunnel = await openTunnel(proxy, targetOf(way.origin), {
      context: createContexts(way).ofProxy,
      session: undefined,
      signal,
    })
    tunnel.destroy()
  })
}

/** Connects, checks the service's certificate, and returns until when that is valid; throws as a request would. */
export async function probeCertificate(way: ProbedWay): Promise<number> {
  const { origin, proxy, signal } = way
  return explaining(way, async () => {
    const { ofProxy, ofService } = createContexts(way)
    const security = { session: undefined, signal }
    const tunnel = proxy && (await openTunnel(proxy, targetOf(origin), { ...security, context: ofProxy }))
    const socket = await openSecureSocket(placeOf(origin), { ...security, context: ofService }, tunnel)
    const { valid_to: validTo } = socket.getPeerCertificate()
    socket.destroy()
    return Date.parse(validTo)
  })
}

async function explaining<T>(way: ProbedWay, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect()
  } catch (thrown) {
    const request: ServiceRequest<unknown> = { ...CONNECTING, signal: way.signal }
    const error = networkError(request, thrown, { connected: false, mayHaveTakenEffect: false }, way)
    throw error instanceof TransientFailure
      ? finalError(request, error.details, { tries: 1, origin: way.origin })
      : error
  }
}

/** The request that error messages name. */
const CONNECTING = {
  target: { kind: 'description' },
  verb: 'connect',
  retry: 'always',
  read: () => Promise.resolve(undefined),
} as const
