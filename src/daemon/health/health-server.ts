import { messageOf, RequestError, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { faultOf } from '../../foundation/http/fault.ts'
import { createHttpServer, type RequestLimits } from '../../foundation/http/http-server.ts'
import { type HttpResponse, jsonResponse, type Routes } from '../../foundation/http/route.ts'
import type { Logger } from '../../foundation/logger.ts'
import { hostNameOf, isLoopback } from '../../foundation/network/loopback.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { listFailingChecks } from './readiness.ts'

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
  const { listen, close } = createHttpServer({
    routes: healthRoutes(view),
    maxConnections: MAX_CONNECTIONS,
    limits,
    // Against DNS rebinding: a foreign page whose name resolves to this machine sends that name as its host.
    checkHeaders: (headers) => {
      if (!isLoopback(hostNameOf(headers.host))) throw new RequestError('request-rejected', 'Not a local host', 403)
    },
    onError: (error) => {
      if (error instanceof RequestError) return faultOf(error)
      logger.error('Cannot answer a request for health or metrics', { error: messageOf(error) })
      return { code: 'unexpected', message: "See the daemon's log for the cause" }
    },
  })
  const warn = (error: Error) => logger.warn('The health server had an error', { error: error.message })
  try {
    const url = await listen({ host: address, port }, warn)
    return { url, [Symbol.asyncDispose]: () => close(0) }
  } catch (error) {
    throw cannotListen(address, port, error)
  }
}

function cannotListen(host: string, port: number, cause: unknown): UsageError {
  const code = systemCodeOf(cause) ?? messageOf(cause)
  const why = code === 'EADDRINUSE' ? 'another program uses this port' : code
  const text = `Cannot serve health and metrics on ${host.includes(':') ? `[${host}]` : host}:${port}: ${why}`
  return new UsageError('bad-configuration', `${text}; set health.listen to another loopback address, or to none`, {
    cause,
  })
}

function loopbackAddress(host: string): string {
  if (!isLoopback(host)) {
    const text = `Cannot serve health and metrics on "${escapeText(host)}": other machines can reach this address`
    throw new UsageError('bad-configuration', `${text}; set health.listen to one such as 127.0.0.1:9847`)
  }
  // Not resolved, because the result of `localhost` depends on the system's configuration.
  return host === 'localhost' ? '127.0.0.1' : host
}

/** The sources of the answers on health and metrics. */
export interface HealthView {
  status(): DaemonStatus
  renderMetrics(): Promise<{ readonly body: string; readonly contentType: string }>
  /** Returns whether the daemon still works, not only its event loop. */
  isAlive(): boolean
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>shelfd</title>
<h1>shelfd is running</h1>
<p>The command <code>shelfd dashboard</code> shows what it does in this browser.</p>
<ul>
<li><a href="/healthz">/healthz</a>: 200 while the daemon lives
<li><a href="/readyz">/readyz</a>: 200 while it can mirror, or what keeps it from that
<li><a href="/metrics">/metrics</a>: for Prometheus
</ul>
</html>
`

function healthRoutes(view: HealthView): Routes {
  return {
    'GET /': () => ({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: PAGE }),
    'GET /healthz': () =>
      view.isAlive() ? jsonResponse(200, { status: 'ok' }) : jsonResponse(503, { status: 'stuck' }),
    'GET /readyz': () => answerReadiness(view.status()),
    'GET /metrics': async () => {
      const { body, contentType } = await view.renderMetrics()
      return { status: 200, headers: { 'content-type': contentType }, body }
    },
  }
}

function answerReadiness(status: DaemonStatus): HttpResponse {
  const failing = listFailingChecks(status)
  return failing.length === 0
    ? jsonResponse(200, { status: 'ready' })
    : jsonResponse(503, { status: 'not-ready', failing })
}
