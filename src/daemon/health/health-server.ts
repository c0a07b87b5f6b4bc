import { once } from 'node:events'
import type { Server } from 'node:http'
import { messageOf, RequestError, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { faultOf } from '../../foundation/http/fault.ts'
import { createHttpServer, type RequestLimits } from '../../foundation/http/http-server.ts'
import type { Logger } from '../../foundation/logger.ts'
import { hostNameOf, isLoopback } from '../../foundation/network/loopback.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { type HealthView, healthRoutes } from './health-routes.ts'

export interface HealthServerOptions {
  /** A loopback address, or `localhost`. */
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  readonly view: HealthView
  readonly logger: Logger
  readonly limits?: RequestLimits
}

export interface HealthServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:9847`. */
  readonly url: string
}

const MAX_CONNECTIONS = 32

/**
 * Answers GET and HEAD of `/healthz`, `/readyz` and `/metrics`, to this machine only.
 * Throws UsageError when `host` is not loopback or cannot be listened on.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { host, port, view, logger, limits } = options
  const address = loopbackAddress(host)
  const { server, close } = createHttpServer({
    routes: healthRoutes(view),
    maxConnections: MAX_CONNECTIONS,
    limits,
    // Against DNS rebinding: a foreign page whose name resolves to this machine sends that name as its host.
    checkHeaders: (headers) => {
      if (!isLoopback(hostNameOf(headers.host))) throw new RequestError('request-rejected', 'Not a local host', 403)
    },
    missing: (asked) => new RequestError('not-found', `There is no ${asked}`, 404),
    onError: (error) => {
      if (error instanceof RequestError) return faultOf(error)
      logger.error('Cannot answer a request for health or metrics', { error: messageOf(error) })
      return { code: 'unexpected', message: "See the daemon's log for the cause" }
    },
  })
  await listen(server, address, port)
  // An error of a later connection, such as too many open files, must not end the daemon.
  server.on('error', (error) => logger.warn('The health server had an error', { error: error.message }))
  return { url: urlOf(server), [Symbol.asyncDispose]: () => close(0) }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    const code = systemCodeOf(error) ?? messageOf(error)
    const why = code === 'EADDRINUSE' ? 'another program uses this port' : code
    const text = `Cannot serve health and metrics on ${bracketed(host)}:${port}: ${why}`
    throw new UsageError('bad-configuration', `${text}; set health.listen to another loopback address, or to none`, {
      cause: error,
    })
  }
}

function loopbackAddress(host: string): string {
  if (!isLoopback(host)) {
    const text = `Cannot serve health and metrics on "${escapeText(host)}": other machines can reach this address`
    throw new UsageError('bad-configuration', `${text}; set health.listen to one such as 127.0.0.1:9847`)
  }
  // Not resolved, because the result of `localhost` depends on the system's configuration.
  return host === 'localhost' ? '127.0.0.1' : host
}

function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has an address and a port')
  return `http://${bracketed(address.address)}:${address.port}`
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
