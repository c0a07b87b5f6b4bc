import type { DaemonStatus } from '../daemon-status.ts'
import { type HttpAnswer, jsonAnswer, type Routes } from '../http/route.ts'
import { listFailingChecks } from './readiness.ts'

/** The sources of the answers on health and metrics. */
export interface HealthView {
  status(): DaemonStatus
  renderMetrics(): Promise<{ readonly body: string; readonly contentType: string }>
  /** Whether the daemon still works, not only its event loop. */
  isAlive(): boolean
}

const LISTING = `shelfd
/healthz  200 while the daemon lives
/readyz   200 while it can mirror, or what keeps it from that
/metrics  for Prometheus
`

export function healthRoutes(view: HealthView): Routes {
  return {
    'GET /': () => ({ status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: LISTING }),
    'GET /healthz': () => (view.isAlive() ? jsonAnswer(200, { status: 'ok' }) : jsonAnswer(503, { status: 'stuck' })),
    'GET /readyz': () => answerReadiness(view.status()),
    'GET /metrics': async () => {
      const { body, contentType } = await view.renderMetrics()
      return { status: 200, headers: { 'content-type': contentType }, body }
    },
  }
}

function answerReadiness(status: DaemonStatus): HttpAnswer {
  const failing = listFailingChecks(status)
  return failing.length === 0 ? jsonAnswer(200, { status: 'ready' }) : jsonAnswer(503, { status: 'not-ready', failing })
}
