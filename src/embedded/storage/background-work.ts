import type { Clock } from '../../foundation/clock.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'

interface BackgroundWorkSpec {
  readonly logger: Logger
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Logged at the first failure, and at the next success. */
  readonly messages: { readonly fault: string; readonly recovery: string }
  /** Does all pending work; throws if a fault of the service itself, such as a full disk, prevents it. */
  run(): Promise<void>
}

const RETRY_MS = 5_000

/** Runs work in the background of requests: whenever it is woken, and after a failure again until it succeeds. */
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
        // Retries without a `wake`, because the fault may pass: someone may free space on a full disk.
        await clock.sleep(RETRY_MS, signal).catch(() => {})
        isWoken = true
      }
    }
    working = undefined
  }
  return {
    /** Reports that there may be new work. */
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
