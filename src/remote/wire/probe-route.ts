import type { Clock } from '../../foundation/clock.ts'
import { type ConnectOptions, connectSecurely, createContexts } from './connector.ts'
import { openTunnel } from './proxy.ts'
import type { ServiceRequest } from './request.ts'
import { finalError, networkError, TransientFailure } from './transient-failure.ts'

export interface ProbedRoute extends ConnectOptions {
  /** The https origin of the service. */
  readonly origin: string
  readonly clock: Clock
}

/** Opens a tunnel through the proxy and closes it; if that fails, throws the error of a request. */
export async function probeProxy(route: ProbedRoute): Promise<void> {
  const { proxy, signal } = route
  if (!proxy) return
  await throwRequestError(route, async () => {
    const tunnel = await openTunnel(proxy, route.origin, { context: createContexts(route).ofProxy, signal })
    tunnel.destroy()
  })
}

/** Connects, checks the service's certificate, and returns until when it is valid; if that fails, throws the error of a request. */
export async function probeCertificate(route: ProbedRoute): Promise<number> {
  return throwRequestError(route, async () => {
    const socket = await connectSecurely(route.origin, route, createContexts(route))
    const { valid_to: validTo } = socket.getPeerCertificate()
    socket.destroy()
    return Date.parse(validTo)
  })
}

async function throwRequestError<T>(route: ProbedRoute, connect: () => Promise<T>): Promise<T> {
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
