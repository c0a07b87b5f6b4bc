import type { Clock } from '../../foundation/clock.ts'
import type { ObservationBatch } from './observation.ts'

/** More at once would take memory and save no time. */
const FULL_FILES = 8_192
/** What a slow disk took long to read is not lost when the process ends. */
const FULL_AGE_MS = 1_000

/** Batches that wait to be recorded in one transaction. */
export class PendingBatches {
  readonly #clock: Clock
  #batches: ObservationBatch[] = []
  #files = 0
  #sinceMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isFull(): boolean {
    if (this.#batches.length === 0) return false
    return this.#files >= FULL_FILES || this.#clock.monotonicMs() - this.#sinceMs >= FULL_AGE_MS
  }

  add(batch: ObservationBatch): void {
    if (this.#batches.length === 0) this.#sinceMs = this.#clock.monotonicMs()
    this.#batches.push(batch)
    this.#files += batch.counts.hashed
  }

  take(): readonly ObservationBatch[] {
    const taken = this.#batches
    this.#batches = []
    this.#files = 0
    return taken
  }
}
