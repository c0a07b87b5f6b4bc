import { type Finding, failed, ok, warning } from './finding.ts'

/** The service's `Date` has whole seconds, and the answer took a moment. */
const UNNOTICED_MS = 5_000
/** With a larger difference, certificates and waiting times of the service are misread. */
const HARMFUL_MS = 5 * 60_000
const REMEDY = 'sudo timedatectl set-ntp true'

/** Assesses how far this computer's clock is ahead of the service's; undefined when the service states no time. */
export function assessClock(aheadMs: number | undefined): Finding {
  if (aheadMs === undefined) return warning('the service states no time to compare with')
  const text = `${aheadMs < 0 ? '-' : '+'}${(Math.abs(aheadMs) / 1_000).toFixed(1)} s beside the service`
  const distanceMs = Math.abs(aheadMs)
  if (distanceMs < UNNOTICED_MS) return ok(text)
  if (distanceMs < HARMFUL_MS) return warning(`${text}: times in reports and logs are wrong`, REMEDY)
  return failed(`${text}: certificates and waiting times are misread`, { remedy: REMEDY })
}
