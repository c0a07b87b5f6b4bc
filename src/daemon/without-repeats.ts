import type { Clock } from '../foundation/clock.ts'
import { type LogFields, type Logger, loggerTo } from '../foundation/logger.ts'
import { SENT, SENT_BESIDES, UPLOADS_FAILED } from '../sync/continuous/activity-log.ts'
import { CLIENT_LOG_MESSAGES } from './control/answer-clients.ts'

const REPEAT_INTERVAL_MS = 10 * 60_000
const MAX_KEPT = 1_000

/** Messages about uploads and requests of clients. */
const ALWAYS_LOGGED: ReadonlySet<string> = new Set([
  SENT,
  SENT_BESIDES,
  UPLOADS_FAILED,
  ...Object.values(CLIENT_LOG_MESSAGES),
])

/**
 * Logs a message about a mirror at most once in ten minutes; the next one says how many were left out. Messages without
 * mirror and code are repetitions only if their reason and changes are equal too.
 */
export function withoutRepeats(logger: Logger, clock: Clock): Logger {
  const logged = new Map<string, { readonly atMs: number; repeated: number }>()
  return loggerTo((level, message, fields = {}) => {
    if (level === 'debug' || ALWAYS_LOGGED.has(message)) return logger[level](message, fields)
    const key = keyOf(level, message, fields)
    const before = logged.get(key)
    if (before && clock.monotonicMs() - before.atMs < REPEAT_INTERVAL_MS) {
      before.repeated += 1
      return
    }
    logged.delete(key)
    logged.set(key, { atMs: clock.monotonicMs(), repeated: 0 })
    dropOldest(logged)
    logger[level](message, before?.repeated ? { ...fields, repeated: before.repeated } : fields)
  })
}

function keyOf(level: string, message: string, { mirror, code, reason, changes }: LogFields): string {
  const isOfAll = mirror === undefined && code === undefined
  return JSON.stringify([level, message, ...(isOfAll ? [reason, changes] : [mirror, code])])
}

function dropOldest(logged: Map<string, unknown>): void {
  const [oldest] = logged.keys()
  if (logged.size > MAX_KEPT && oldest !== undefined) logged.delete(oldest)
}
