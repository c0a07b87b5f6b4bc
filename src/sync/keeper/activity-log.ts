import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'

/** What several runs did is told in one line, at most so often. */
const PAUSE_MS = 5 * 60_000
/** The message of that line; its numbers add up, so none of them may be left out. */
export const SENT = 'sent'

/** Tells what was sent, without a line for every file. */
export class ActivityLog {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #mirror: string
  #tellAtMs = Number.NEGATIVE_INFINITY
  #sums = { created: 0, duplicates: 0, aliases: 0, failed: 0, bytes: 0 }

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }, mirror: string) {
    this.#clock = clock
    this.#logger = logger
    this.#mirror = mirror
  }

  add({ uploads }: SyncSummary): void {
    const { created, duplicates, aliases, failed, bytes } = this.#sums
    this.#sums = {
      created: created + uploads.created,
      duplicates: duplicates + uploads.duplicates,
      aliases: aliases + uploads.aliases,
      failed: failed + uploads.failed,
      bytes: bytes + uploads.bytes,
    }
    if (this.#clock.monotonicMs() >= this.#tellAtMs) this.flush()
  }

  /** Tells what was not told yet. */
  flush(): void {
    const told = Object.entries(this.#sums).filter(([, sum]) => sum > 0)
    if (told.length === 0) return
    this.#logger.info(SENT, { mirror: this.#mirror, ...Object.fromEntries(told) })
    this.#sums = { created: 0, duplicates: 0, aliases: 0, failed: 0, bytes: 0 }
    this.#tellAtMs = this.#clock.monotonicMs() + PAUSE_MS
  }
}
