import { terminalSafeJson } from '../foundation/text.ts'
import { listFailingChecks } from './readiness.ts'
import type { DaemonStanding } from './standing.ts'

/** What health and metrics are answered from. */
export interface HealthView {
  standing(): DaemonStanding
  renderMetrics(): Promise<{ readonly body: string; readonly contentType: string }>
  /** The daemon's work goes on, not only its event loop. */
  isAlive(): boolean
}

export interface HealthAnswer {
  readonly status: number
  /** Of the content. */
  readonly type: string
  readonly body: string
}

const LISTING = `shelfd
/healthz  200 while the daemon lives
/readyz   200 while it can mirror, or what keeps it from that
/metrics  for Prometheus
`

/** The answer at a path; undefined where there is none. */
export async function answerHealth(path: string, view: HealthView): Promise<HealthAnswer | undefined> {
  switch (path) {
    case '/':
      return { status: 200, type: 'text/plain; charset=utf-8', body: LISTING }
    case '/healthz':
      return view.isAlive() ? json(200, { status: 'ok' }) : json(503, { status: 'stuck' })
    case '/readyz':
      return answerReadiness(view.standing())
    case '/metrics': {
      const { body, contentType } = await view.renderMetrics()
      return { status: 200, type: contentType, body }
    }
    default:
      return undefined
  }
}

function answerReadiness(standing: DaemonStanding): HealthAnswer {
  const failing = listFailingChecks(standing)
  return failing.length === 0 ? json(200, { status: 'ready' }) : json(503, { status: 'not-ready', failing })
}

function json(status: number, body: unknown): HealthAnswer {
  return { status, type: 'application/json', body: `${terminalSafeJson(body)}\n` }
}
