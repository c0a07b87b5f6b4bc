import type { LogFields } from '../foundation/logger.ts'
import { isoTime, timeOfDay } from '../foundation/text/times.ts'
import type { Outage, OutageListener } from '../remote/policies/outage.ts'
import { describeCause } from '../remote/policies/outage.ts'

/** Shorter outages are not reported. */
const SHORTEST_REPORTED_MS = 1_000
/** The interval at which an unchanged outage is reported again. */
const REMINDER_MS = 30_000

interface Announced {
  readonly origin: string
  readonly key: string
  readonly atMs: number
}

interface OutageListenerOptions {
  /** Writes a line for people, or an entry of the log with these fields. */
  readonly announce: (line: string, fields?: LogFields) => void
  /** True if a user can stop the command with Ctrl-C. */
  readonly isTerminal: boolean
}

/** Reports an outage that a command waits for: soon, when it changes, at intervals, and when it is over. */
export function createOutageListener({ announce, isTerminal }: OutageListenerOptions): OutageListener {
  let announced: Announced | undefined
  return (outage) => {
    const nowMs = Date.now()
    if (!outage) {
      if (announced) announce(`${announced.origin} answers again.`, { service: announced.origin })
      announced = undefined
      return
    }
    const lastsMs = (outage.nextTryAtMs ?? nowMs) - outage.sinceMs
    const key = `${outage.code} ${outage.nextTryAtMs === null ? '' : outage.cause}`
    if (lastsMs < SHORTEST_REPORTED_MS || (announced?.key === key && nowMs - announced.atMs < REMINDER_MS)) return
    announced = { origin: outage.origin, key, atMs: nowMs }
    announce(`${describeOutage(outage, nowMs)}${isTerminal ? ' Ctrl-C stops.' : ''}`, fieldsOf(outage))
  }
}

function fieldsOf({ origin, code, cause, givesUpAtMs, nextTryAtMs, askedUntilMs }: Outage): LogFields {
  const times = { until: givesUpAtMs, nextTry: nextTryAtMs, askedToWaitUntil: askedUntilMs }
  const shown = Object.entries(times).flatMap(([name, ms]) => (ms === null ? [] : [[name, isoTime(ms)]]))
  return { service: origin, code, reason: cause, ...Object.fromEntries(shown) }
}

/** Returns one line: which service does not answer, why, how long shelfd waits, and when it tries again. */
function describeOutage(outage: Outage, nowMs: number): string {
  return `${describeCause(outage, nowMs)}. ${describePlan(outage, nowMs)}`
}

function describePlan({ givesUpAtMs, nextTryAtMs, askedUntilMs }: Outage, nowMs: number): string {
  const until = givesUpAtMs === null ? 'Trying a few times' : `Trying until ${timeOfDay(givesUpAtMs, nowMs)}`
  if (askedUntilMs !== null) return `${until}.`
  if (nextTryAtMs === null) return `${until}.`
  return `${until}; next try in ${Math.max(1, Math.ceil((nextTryAtMs - nowMs) / 1_000))} s.`
}
