import { type NextDue, readCronTimes } from './cron-times.ts'

export interface MaintenanceWindow {
  readonly start: string
  readonly durationMs: number
}

interface Window {
  readonly nextAfter: NextDue
  readonly durationMs: number
}

/** Adjoining windows joined in one call; the next call joins further ones. */
const MAX_JOINED = 1000

export interface Maintenance {
  /** Includes windows that overlap or touch it; null outside. */
  readonly closedUntil: number | null
  readonly fromMs: number
  readonly toMs: number
}

/** Nothing is uploaded in a window. Times are wall clock. */
export class MaintenanceWindows {
  readonly #windows: readonly Window[]

  constructor(settings: readonly MaintenanceWindow[], timeZone: string | undefined) {
    this.#windows = settings.map(({ start, durationMs }) => ({ nextAfter: readCronTimes(start, timeZone), durationMs }))
  }

  get isEmpty(): boolean {
    return this.#windows.length === 0
  }

  /** Valid until the next window begins or ends, or the clock is set. */
  at(nowMs: number): Maintenance {
    const closedUntil = this.closedUntil(nowMs)
    const starts = this.#windows.map(({ nextAfter }) => nextAfter(nowMs) ?? Number.POSITIVE_INFINITY)
    return { closedUntil, fromMs: nowMs, toMs: closedUntil ?? Math.min(...starts) }
  }

  /** Includes windows that overlap or touch it; null outside. */
  closedUntil(nowMs: number): number | null {
    let endMs = nowMs
    for (let joined = 0; joined < MAX_JOINED; joined += 1) {
      const laterMs = this.#extend(endMs)
      if (laterMs === endMs) break
      endMs = laterMs
    }
    return endMs > nowMs ? endMs : null
  }

  /** Returns the end of a window that has begun by `endMs` and lasts longer; `endMs` without one. */
  #extend(endMs: number): number {
    const ends = this.#windows.map(({ nextAfter, durationMs }) => {
      const startMs = nextAfter(endMs - durationMs)
      return startMs !== null && startMs <= endMs ? startMs + durationMs : endMs
    })
    return Math.max(endMs, ...ends)
  }
}
