import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { FileLog, SentFile } from '../file-log.ts'

/** So many files are named in a minute: whoever works with files sees each, and a first pass does not fill the disk. */
const MOST_NAMED = 60
const MINUTE_MS = 60_000
/** What was not named is summed up in one line, at most so often. */
const PAUSE_MS = 5 * MINUTE_MS
/** The message that names one file. */
export const SENT = 'sent'
/** The message that sums up what was done beside the named files; its numbers add up, so none of them may be left out. */
export const SENT_BESIDES = 'sent besides'
/** The message where failures are all there is to sum up. */
export const UPLOADS_FAILED = 'uploads failed'

const NOTHING = { created: 0, duplicates: 0, aliases: 0, failed: 0, bytes: 0 }

/** Says in the log what was sent for one mirror: file by file, and in sum where there are many. */
export class ActivityLog implements FileLog {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #mirror: string
  #tellAtMs = Number.NEGATIVE_INFINITY
  /** What runs did beyond what was named. */
  #sums = { ...NOTHING }
  #minuteEndsAtMs = Number.NEGATIVE_INFINITY
  #namedInMinute = 0

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }, mirror: string) {
    this.#clock = clock
    this.#logger = logger
    this.#mirror = mirror
  }

  wouldSend(): void {}

  sent({ path, resourceId, isDuplicate, sizeBytes: bytes }: SentFile): void {
    if (!this.#mayName()) return
    const fields = { mirror: this.#mirror, path, resourceId, bytes, ...(isDuplicate && { duplicate: true }) }
    this.#logger.info(SENT, fields)
    this.#sums[isDuplicate ? 'duplicates' : 'created'] -= 1
    this.#sums.bytes -= bytes
  }

  /** A run has ended; its files were named before. */
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
    this.#sums = { ...NOTHING }
    if (told.length === 0) return
    const message = told.every(([name]) => name === 'failed') ? UPLOADS_FAILED : SENT_BESIDES
    this.#logger.info(message, { mirror: this.#mirror, ...Object.fromEntries(told) })
    this.#tellAtMs = this.#clock.monotonicMs() + PAUSE_MS
  }

  #mayName(): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs >= this.#minuteEndsAtMs) {
      this.#minuteEndsAtMs = nowMs + MINUTE_MS
      this.#namedInMinute = 0
    }
    this.#namedInMinute += 1
    return this.#namedInMinute <= MOST_NAMED
  }
}
