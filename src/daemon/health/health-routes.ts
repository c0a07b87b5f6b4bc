import { type HttpResponse, jsonResponse, type Routes } from '../../foundation/http/route.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { listFailingChecks } from './readiness.ts'

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

export function healthRoutes(view: HealthView): Routes {
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
