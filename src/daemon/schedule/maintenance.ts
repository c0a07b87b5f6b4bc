import { type NextDue, readCronTimes } from './cron-times.ts'

export interface MaintenanceWindow {
  readonly start: string
  readonly durationMs: number
}

interface Window {
  readonly nextAfter: NextDue
  readonly durationMs: number
}

/** How many adjoining windows one call joins at most. */
const MAX_JOINED = 1000

/** The state of the windows from `fromMs` until a window begins or ends at `toMs`, unless the clock is set. */
export interface Maintenance {
  /** The time at which uploads resume; null outside of windows. */
  readonly closedUntil: number | null
  readonly fromMs: number
  readonly toMs: number
}

/** The windows of time in which nothing is uploaded. Times are those of the wall clock, in milliseconds. */
export class MaintenanceWindows {
  readonly #windows: readonly Window[]

  constructor(settings: readonly MaintenanceWindow[], timeZone: string | undefined) {
    this.#windows = settings.map(({ start, durationMs }) => ({ nextAfter: readCronTimes(start, timeZone), durationMs }))
  }

  get isEmpty(): boolean {
    return this.#windows.length === 0
  }

  at(nowMs: number): Maintenance {
    const closedUntil = this.closedUntil(nowMs)
    const starts = this.#windows.map(({ nextAfter }) => nextAfter(nowMs) ?? Number.POSITIVE_INFINITY)
    return { closedUntil, fromMs: nowMs, toMs: closedUntil ?? Math.min(...starts) }
  }

  /** Returns the end of the current window and of those that overlap or adjoin it; null outside of windows. */
  closedUntil(nowMs: number): number | null {
    let endMs = nowMs
    for (let joined = 0; joined < MAX_JOINED; joined += 1) {
      const laterMs = this.#latestEnd(endMs)
      if (laterMs === endMs) break
      endMs = laterMs
    }
    return endMs > nowMs ? endMs : null
  }

  /** Returns the latest end of the windows that have begun by `endMs` and last longer; `endMs` if there is none. */
  #latestEnd(endMs: number): number {
    const ends = this.#windows.map(({ nextAfter, durationMs }) => {
      const startMs = nextAfter(endMs - durationMs)
      return startMs !== null && startMs <= endMs ? startMs + durationMs : endMs
    })
    return Math.max(endMs, ...ends)
  }
}
