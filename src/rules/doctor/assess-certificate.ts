import { type Finding, ok, warning } from './finding.ts'

const DAY_MS = 24 * 3_600_000
/** Usual authorities renew a certificate earlier than this. */
const SOON_MS = 14 * DAY_MS

/** Assesses the end of a trusted certificate's validity. */
export function assessCertificate(validToMs: number, nowMs: number): Finding {
  const until = `trusted, valid until ${new Date(validToMs).toISOString().slice(0, 10)}`
  if (validToMs - nowMs > SOON_MS) return ok(until)
  const left = Math.max(0, Math.floor((validToMs - nowMs) / DAY_MS))
  return warning(`${until}: ${left === 1 ? '1 day' : `${left} days`} left`, 'ask who runs the service to renew it')
}
