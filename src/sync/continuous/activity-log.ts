import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import { MINUTE_MS } from '../../foundation/text/times.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { FileLog, SentFile } from '../sinks.ts'

/** How many files per minute are logged by name: enough for daily work, and so few that a first pass does not fill the disk. */
const MAX_NAMED = 60
const SUM_INTERVAL_MS = 5 * MINUTE_MS
export const SENT = 'sent'
/** The message with the numbers of files that were not logged by name. Log readers add them to the named ones. */
export const SENT_BESIDES = 'sent besides'
export const UPLOADS_FAILED = 'uploads failed'

const NOTHING = { created: 0, duplicates: 0, aliases: 0, failed: 0, bytes: 0 }

export class ActivityLog implements FileLog {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #mirror: string
  #logAtMs = Number.NEGATIVE_INFINITY
  /** Results of runs that are not logged yet. Files that were logged by name are subtracted, even before their run is added. */
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
    if (!this.#mayLogByName()) return
    const fields = { mirror: this.#mirror, path, resourceId, bytes, ...(isDuplicate && { duplicate: true }) }
    this.#logger.info(SENT, fields)
    this.#sums[isDuplicate ? 'duplicates' : 'created'] -= 1
    this.#sums.bytes -= bytes
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
    if (this.#clock.monotonicMs() >= this.#logAtMs) this.flush()
  }

  flush(): void {
    const counted = Object.entries(this.#sums).filter(([, sum]) => sum > 0)
    this.#sums = { ...NOTHING }
    if (counted.length === 0) return
    const message = counted.every(([name]) => name === 'failed') ? UPLOADS_FAILED : SENT_BESIDES
    this.#logger.info(message, { mirror: this.#mirror, ...Object.fromEntries(counted) })
    this.#logAtMs = this.#clock.monotonicMs() + SUM_INTERVAL_MS
  }

  #mayLogByName(): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs >= this.#minuteEndsAtMs) {
      this.#minuteEndsAtMs = nowMs + MINUTE_MS
      this.#namedInMinute = 0
    }
    this.#namedInMinute += 1
    return this.#namedInMinute <= MAX_NAMED
  }
}
