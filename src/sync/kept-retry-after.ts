import type { Clock } from '../foundation/clock.ts'
import { ShelfdError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { RetryAfter } from '../remote/policies/retry-after.ts'
import { keptRetryAfterMs, remainingRetryAfterMs } from '../rules/retry-delay.ts'
import type { Store, StoreReader } from '../store/open-store.ts'
import type { KeyValueQueries } from '../store/tables/key-values.ts'

const PREFIX = 'retry-after:'

/** Returns what is left of the `Retry-After` that the service at `origin` sent to another process. */
export function recallRetryAfter(
  { keyValues }: Pick<StoreReader, 'keyValues'>,
  origin: string,
  clock: Clock,
): RetryAfter {
  return new RetryAfter(clock, { remainingMs: readRemainingMs(keyValues, origin, clock) })
}

/** Returns the same, and stores each further `Retry-After` of the service for later processes. */
export function keepRetryAfter(store: Store, origin: string, clock: Clock, logger: Logger): RetryAfter {
  const onAsked = (lengthMs: number) => {
    const value = `${clock.nowMs()} ${keptRetryAfterMs(lengthMs)}`
    try {
      store.write(() => store.keyValues.set(PREFIX + origin, value))
    } catch (error) {
      if (!(error instanceof ShelfdError)) throw error
      // This process still waits as asked, and a store that cannot be written must not fail the request.
      logger.warn('Cannot record how long the service asked to wait; after a restart, requests begin at once', {
        code: error.code,
        reason: error.message,
      })
    }
  }
  return new RetryAfter(clock, { remainingMs: readRemainingMs(store.keyValues, origin, clock), onRetryAfter: onAsked })
}

function readRemainingMs(keyValues: KeyValueQueries, origin: string, clock: Clock): number {
  const [, askedAtMs, lengthMs] = /^(\d+) (\d+)$/.exec(keyValues.get(PREFIX + origin) ?? '') ?? []
  if (askedAtMs === undefined) return 0
  return remainingRetryAfterMs({ askedAtMs: Number(askedAtMs), lengthMs: Number(lengthMs) }, clock.nowMs())
}
