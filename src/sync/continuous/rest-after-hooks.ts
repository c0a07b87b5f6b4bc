import { pauseAfterHooksMs } from '../../rules/next-work.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine } from '../engine.ts'

/** A run that begins within this time after a rest was already due during the rest. */
const AWAITED_MS = 1_000

/** How long a mirror rests after each run between the commands of its configuration, so that none causes the next without end. */
export class PauseAfterHooks {
  readonly #engine: Pick<Engine, 'clock' | 'logger'>
  readonly #mirror: string
  #durationMs = 0
  #endMs = Number.NEGATIVE_INFINITY
  #wasAwaited = false

  constructor(engine: Pick<Engine, 'clock' | 'logger'>, mirror: string) {
    this.#engine = engine
    this.#mirror = mirror
  }

  begin(): void {
    this.#wasAwaited = this.#engine.clock.monotonicMs() - this.#endMs < AWAITED_MS
  }

  /** A run has ended; returns when the rest ends (monotonic): at `latestMs` at the latest. */
  after({ files }: Pick<SyncSummary, 'files'>, latestMs: number): number {
    const { clock, logger } = this.#engine
    const hasFound = files.new + files.changed + files.moved + files.removed > 0
    const lastPauseMs = this.#durationMs
    this.#durationMs = pauseAfterHooksMs({ lastPauseMs, wasAwaited: this.#wasAwaited, hasFound })
    this.#endMs = Math.min(latestMs, clock.monotonicMs() + this.#durationMs)
    if (lastPauseMs > 0 && this.#durationMs > lastPauseMs) {
      const fields = { mirror: this.#mirror, waitsMs: this.#durationMs }
      logger.info('the commands of the mirror seem to change its directory; the next run that they cause waits', fields)
    }
    return this.#endMs
  }
}
