import type { Clock } from '../../foundation/clock.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'

interface BackgroundWorkSpec {
  readonly logger: Logger
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Logged when the work has failed, and when it continues. */
  readonly messages: { readonly fault: string; readonly recovery: string }
  /** Does what there is to do; throws when a fault of the service itself (such as a full disk) prevents that. */
  run(): Promise<void>
}

const RETRY_MS = 5_000

/** Work beside requests: it runs when it is woken, and again after a fault until it succeeds. */
export function openBackgroundWork({ logger, clock, signal, messages, run }: BackgroundWorkSpec) {
  let working: Promise<void> | undefined
  let isWoken = false
  let isFaulty = false
  const work = async () => {
    while (isWoken && !signal.aborted) {
      isWoken = false
      try {
        await run()
        if (isFaulty) logger.info(messages.recovery)
        isFaulty = false
      } catch (error) {
        // A lasting fault is logged once.
        if (!isFaulty && !signal.aborted) logger.error(messages.fault, { error: messageOf(error) })
        isFaulty = true
        // The fault may pass (someone frees space on a full disk) although nothing else wakes this work.
        await clock.sleep(RETRY_MS, signal).catch(() => {})
        isWoken = true
      }
    }
    working = undefined
  }
  return {
    /** Reports that there may be something to do. */
    wake: () => {
      if (signal.aborted) return
      isWoken = true
      working ??= work()
    },
    /** Resolves when all work is done. */
    settled: async () => {
      while (working) await working
    },
  }
}
