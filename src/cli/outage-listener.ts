import type { LogFields } from '../foundation/logger.ts'
import type { Outage, OutageListener } from '../remote/policies/outage.ts'
import { describeOutage } from './render/outage.ts'

/** Shorter outages are not reported. */
const WORTH_TELLING_MS = 2_000
/** The interval at which an unchanged outage is reported again. */
const REMINDER_MS = 30_000

interface Told {
  readonly origin: string
  readonly key: string
  readonly atMs: number
}

interface OutageTeller {
  /** Writes a line for people, or an entry of the log with these fields. */
  readonly tell: (line: string, fields?: LogFields) => void
  /** Whether a user can stop the command with Ctrl-C. */
  readonly isTerminal: boolean
}

/** Reports an outage that a command waits for: soon, when it changes, at intervals, and when it is over. */
export function createOutageListener({ tell, isTerminal }: OutageTeller): OutageListener {
  let told: Told | undefined
  return (outage) => {
    const nowMs = Date.now()
    if (!outage) {
      if (told) tell(`${told.origin} answers again.`, { service: told.origin })
      told = undefined
      return
    }
    const lastsMs = (outage.nextTryAtMs ?? nowMs) - outage.sinceMs
    const key = `${outage.code} ${outage.nextTryAtMs === null ? '' : outage.cause}`
    if (lastsMs < WORTH_TELLING_MS || (told?.key === key && nowMs - told.atMs < REMINDER_MS)) return
    told = { origin: outage.origin, key, atMs: nowMs }
    tell(`${describeOutage(outage, nowMs)}${isTerminal ? ' Ctrl-C stops.' : ''}`, fieldsOf(outage))
  }
}

function fieldsOf({ origin, code, cause, untilMs, nextTryAtMs, askedUntilMs }: Outage): LogFields {
  const times = { until: untilMs, nextTry: nextTryAtMs, askedToWaitUntil: askedUntilMs }
  const shown = Object.entries(times).flatMap(([name, ms]) => (ms === null ? [] : [[name, new Date(ms).toISOString()]]))
  return { service: origin, code, reason: cause, ...Object.fromEntries(shown) }
}
