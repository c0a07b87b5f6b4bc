import { escapeText } from '../../foundation/text/safe-text.ts'
import { timeOfDay } from '../../foundation/text/time-of-day.ts'
import type { Outage } from './outage.ts'

const HEADLINES: Readonly<Record<Outage['code'], string>> = {
  'service-unreachable': 'does not answer',
  'answer-late': 'does not answer',
  'answer-malformed': 'gives no usable answer',
  'service-unavailable': 'cannot answer requests now',
  'service-error': 'cannot answer requests now',
  'service-throttling': 'asks for fewer requests',
}

/** Names the service and its fault: `https://library.example.com does not answer (connection refused)`. */
export function describeCause({ origin, code, cause, askedUntilMs }: Outage, nowMs: number): string {
  const asked = askedUntilMs === null ? HEADLINES[code] : `asks to wait until ${timeOfDay(askedUntilMs, nowMs)}`
  return `${origin} ${asked} (${escapeText(cause)})`
}
