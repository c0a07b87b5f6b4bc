import { escapeText } from '../../foundation/text.ts'
import { timeOfDay } from '../../foundation/time-of-day.ts'
import type { Outage } from '../../remote/outage.ts'

/** One line: who doesn't answer, why, how long it is waited for, and when it is asked again. */
export function describeOutage(outage: Outage, nowMs: number): string {
  const { origin, cause, askedUntilMs } = outage
  const asked = askedUntilMs === null ? '' : `asks to wait until ${timeOfDay(askedUntilMs, nowMs)}`
  return `${origin} ${asked === '' ? HEADLINES[outage.code] : asked} (${escapeText(cause)}). ${describePlan(outage, nowMs)}`
}

const HEADLINES: Readonly<Record<Outage['code'], string>> = {
  'service-unreachable': 'does not answer',
  'answer-late': 'does not answer',
  'answer-malformed': 'gives no usable answer',
  'service-unavailable': 'cannot serve now',
  'service-error': 'cannot serve now',
  'service-throttling': 'wants fewer requests',
}

function describePlan({ untilMs, nextTryAtMs, askedUntilMs }: Outage, nowMs: number): string {
  const until = untilMs === null ? 'Trying a few times' : `Trying until ${timeOfDay(untilMs, nowMs)}`
  if (askedUntilMs !== null) return `${until}.`
  if (nextTryAtMs === null) return `${until}.`
  return `${until}; next try in ${Math.max(1, Math.ceil((nextTryAtMs - nowMs) / 1_000))} s.`
}
