import type { Clock } from '../../foundation/clock.ts'
import { type ConnectOptions, createContexts } from './connector.ts'
import { hostPortOf, openTunnel, targetOf } from './proxy.ts'
import type { ServiceRequest } from './request.ts'
import { openSecureSocket } from './sockets.ts'
import { finalError, networkError, TransientFailure } from './transient-failure.ts'

export interface ProbedRoute extends ConnectOptions {
  /** The https origin of the service. */
  readonly origin: string
  readonly clock: Clock
}

/** Opens and closes a tunnel through the proxy; throws as a request would whose proxy gives none. */
export async function probeProxy(route: ProbedRoute): Promise<void> {
  const { proxy, signal } = route
  if (!proxy) return
  await explaining(route, async () => {
    const tunnel = await openTunnel(proxy, targetOf(route.origin), {
      context: createContexts(route).ofProxy,
      session: undefined,
      signal,
    })
    tunnel.destroy()
  })
}

/** Connects, checks the service's certificate, and returns until when that is valid; throws as a request would. */
export async function probeCertificate(route: ProbedRoute): Promise<number> {
  const { origin, proxy, signal } = route
  return explaining(route, async () => {
    const { ofProxy, ofService } = createContexts(route)
    const security = { session: undefined, signal }
    const tunnel = proxy && (await openTunnel(proxy, targetOf(origin), { ...security, context: ofProxy }))
    const socket = await openSecureSocket(hostPortOf(origin), { ...security, context: ofService }, tunnel)
    const { valid_to: validTo } = socket.getPeerCertificate()
    socket.destroy()
    return Date.parse(validTo)
  })
}

async function explaining<T>(route: ProbedRoute, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect()
  } catch (thrown) {
    const request: ServiceRequest<unknown> = { ...CONNECTING, signal: route.signal }
    const error = networkError(request, thrown, { connected: false, mayHaveTakenEffect: false }, route)
    throw error instanceof TransientFailure
      ? finalError(request, error.details, { tries: 1, origin: route.origin })
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
