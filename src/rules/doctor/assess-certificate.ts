import { type Finding, ok, warning } from './finding.ts'

const DAY_MS = 24 * 3_600_000
/** Usual authorities renew a certificate earlier than this. */
const SOON_MS = 14 * DAY_MS

/** Assesses the end of a trusted certificate's validity. */
export function assessCertificate(validToMs: number, nowMs: number): Finding {
  return assess('trusted, valid', 'ask who runs the service to renew it', { validToMs, nowMs })
}

/** Assesses the end of the client certificate's validity; whether it is still accepted is for the service to say. */
export function assessClientCertificate(validToMs: number, nowMs: number): Finding {
  const remedy = 'have it renewed, and replace the files of service.clientCertificate'
  return assess('client certificate valid', remedy, { validToMs, nowMs })
}

function assess(what: string, remedy: string, { validToMs, nowMs }: { validToMs: number; nowMs: number }): Finding {
  const until = `${what} until ${new Date(validToMs).toISOString().slice(0, 10)}`
  if (validToMs - nowMs > SOON_MS) return ok(until)
  const left = Math.max(0, Math.floor((validToMs - nowMs) / DAY_MS))
  return warning(`${until}: ${left === 1 ? '1 day' : `${left} days`} left`, remedy)
}
