import { type ErrorCode, messageOf, RequestError, systemCodeOf, UsageError } from '../foundation/errors.ts'
import { faultOf } from '../foundation/http/fault.ts'
import { createHttpServer, type RequestLimits } from '../foundation/http/http-server.ts'
import { type HttpResponse, jsonResponse, type Routes } from '../foundation/http/route.ts'
import type { Logger } from '../foundation/logger.ts'
import { hostNameOf, isLoopback } from '../foundation/network/loopback.ts'
import { counted, escapeText } from '../foundation/text/safe-text.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../sync/continuous/controller-status.ts'

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
  readonly url: string
}

const MAX_CONNECTIONS = 32

/** Serves health and metrics, for this machine only. Throws UsageError if `host` is not loopback, or its port cannot be opened. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { host, port, view, logger, limits } = options
  const address = loopbackAddress(host)
  const { listen, close } = createHttpServer({
    routes: healthRoutes(view),
    maxConnections: MAX_CONNECTIONS,
    limits,
    // Against DNS rebinding: there the header `Host` names the foreign page.
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
    throw listenFailure(address, port, error)
  }
}

function listenFailure(host: string, port: number, cause: unknown): UsageError {
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

export interface HealthView {
  status(): DaemonStatus
  renderMetrics(): Promise<{ readonly body: string; readonly contentType: string }>
  /** Returns whether the daemon still does its work; a running event loop alone is not enough. */
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

/** Every user of the machine can read it, so it holds no path and no text from outside. */
interface FailingCheck {
  /** `credential`, `service`, `ledger`, `store`, `starting`, or `mirror:NAME`. */
  readonly check: string
  /** Null where nothing is wrong, as while the daemon starts. */
  readonly code: string | null
  readonly message: string
}

const REFUSED_CREDENTIAL = 'The service refuses the credential'
const REFUSALS: Partial<Record<ErrorCode, string>> = {
  'credential-missing': 'There is no credential for the service',
  'certificate-refused': 'The certificate of the service is not trusted',
  'client-certificate-refused': 'The service refuses the client certificate, or there is none',
  'proxy-refused': 'The proxy refuses connections to the service',
  'redirect-refused': 'The service redirects to another address',
}

export function listFailingChecks(status: DaemonStatus): FailingCheck[] {
  const { mirrors, isStoreFull } = status
  const checks = [
    ...checksOfService(status),
    ...checksOfLedger(status),
    ...mirrors.filter(isFailing).map(checkOfMirror),
  ]
  if (isStoreFull) checks.push({ check: 'store', code: 'disk-full', message: 'The disk of the state is full' })
  const unseen = mirrors.filter(awaitsFirstScan).length
  if (unseen > 0) {
    const message = `${unseen} of ${counted(mirrors.length, 'mirror')} had no first scan yet`
    checks.push({ check: 'starting', code: null, message })
  }
  return checks
}

function checksOfService({ service: { state, reason } }: DaemonStatus): FailingCheck[] {
  if (state === 'refused') {
    const code = reason?.code ?? 'credential-refused'
    return [{ check: 'credential', code, message: `${REFUSALS[code] ?? REFUSED_CREDENTIAL}; an operator must act` }]
  }
  if (state !== 'away') return []
  const code = reason?.code ?? 'service-unreachable'
  return [{ check: 'service', code, message: 'The service does not answer; shelfd continues when it answers again' }]
}

function checksOfLedger({ ledger }: DaemonStatus): FailingCheck[] {
  if (ledger?.state !== 'away' && ledger?.state !== 'refused') return []
  const message =
    ledger.state === 'away'
      ? 'The ledger does not answer; nothing new is sent, and shelfd continues when it answers again'
      : 'The ledger refuses this host; an operator must act'
  return [{ check: 'ledger', code: ledger.reason?.code ?? 'ledger-away', message }]
}

/** Returns whether a mirror is stopped until a person acts. */
export function isFailing({ state, reason }: DaemonMirrorStatus): boolean {
  return state === 'halted' || isWithoutRoot(reason)
}

function checkOfMirror({ name, reason }: DaemonMirrorStatus): FailingCheck {
  const message = isWithoutRoot(reason)
    ? 'Its directory cannot be read; shelfd continues when it can be read again'
    : 'It is halted; an operator must act (see shelfd status)'
  return { check: `mirror:${name}`, code: reason?.code ?? null, message }
}

/** Returns whether the directory of a mirror is missing or unreadable, so that the user must repair it. */
function isWithoutRoot(reason: DaemonMirrorStatus['reason']): boolean {
  return reason?.code === 'root-missing' || reason?.code === 'root-unreadable'
}

/** Returns false for mirrors that are held back on purpose, or that fail. */
function awaitsFirstScan(mirror: DaemonMirrorStatus): boolean {
  return mirror.lastScanAt === null && mirror.state !== 'held' && !isFailing(mirror)
}
