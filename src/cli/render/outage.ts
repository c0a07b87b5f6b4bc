import { timeOfDay } from '../../foundation/text/time-of-day.ts'
import { describeCause } from '../../remote/policies/describe-outage.ts'
import type { Outage } from '../../remote/policies/outage.ts'

/** One line: which service does not answer, why, how long shelfd waits, and when it tries again. */
export function describeOutage(outage: Outage, nowMs: number): string {
  return `${describeCause(outage, nowMs)}. ${describePlan(outage, nowMs)}`
}

function describePlan({ untilMs, nextTryAtMs, askedUntilMs }: Outage, nowMs: number): string {
  const until = untilMs === null ? 'Trying a few times' : `Trying until ${timeOfDay(untilMs, nowMs)}`
  if (askedUntilMs !== null) return `${until}.`
  if (nextTryAtMs === null) return `${until}.`
  return `${until}; next try in ${Math.max(1, Math.ceil((nextTryAtMs - nowMs) / 1_000))} s.`
}
