import { type CronTimes, readCronTimes } from './cron-times.ts'

export interface MaintenanceWindow {
  /** Five-field cron. */
  readonly start: string
  readonly durationMs: number
}

interface Window extends CronTimes {
  readonly durationMs: number
}

/** The most adjoining windows that are joined in one call; after their end the next call joins further ones. */
const MOST_JOINED = 1000

/** Says whether a window is in force from `fromMs` to before `toMs`. */
export interface Maintenance {
  /** The end of the window, and of those that overlap or touch it; null outside. */
  readonly closedUntil: number | null
  readonly fromMs: number
  readonly toMs: number
}

/** Windows in which nothing is uploaded. All times are wall-clock milliseconds. */
export class MaintenanceWindows {
  readonly #windows: readonly Window[]

  /** `timeZone` is an IANA name; undefined is that of the system. */
  constructor(settings: readonly MaintenanceWindow[], timeZone: string | undefined) {
    this.#windows = settings.map(({ start, durationMs }) => ({ ...readCronTimes(start, timeZone), durationMs }))
  }

  get isEmpty(): boolean {
    return this.#windows.length === 0
  }

  /** Returns what holds from now until the next window begins or ends, unless the clock is set to another time. */
  at(nowMs: number): Maintenance {
    const closedUntil = this.closedUntil(nowMs)
    const starts = this.#windows.map(({ nextAfter }) => nextAfter(nowMs) ?? Number.POSITIVE_INFINITY)
    return { closedUntil, fromMs: nowMs, toMs: closedUntil ?? Math.min(...starts) }
  }

  /** The end of the window that `nowMs` is in, and of those that overlap or touch it; null outside. */
  closedUntil(nowMs: number): number | null {
    let endMs = nowMs
    for (let joined = 0; joined < MOST_JOINED; joined += 1) {
      const laterMs = this.#extend(endMs)
      if (laterMs === endMs) break
      endMs = laterMs
    }
    return endMs > nowMs ? endMs : null
  }

  /** The latest end of the windows that have begun by `endMs`. */
  #extend(endMs: number): number {
    const ends = this.#windows.map(
      ({ lastUntil, durationMs }) => (lastUntil(endMs) ?? Number.NEGATIVE_INFINITY) + durationMs,
    )
    return Math.max(endMs, ...ends)
  }
}
