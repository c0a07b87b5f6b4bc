/** The stage that follows ingestion, as uploads see it. */
export interface Follower {
  /** Polling failed, so the capacity will not grow any more. */
  readonly hasFailed: boolean
}

/** Counts the resources that one follower follows and that are not overdue. */
type CountOwn = () => number

/**
 * How much is in ingestion over all followers of a process: back-pressure to uploads, since `inIngestion` holds for all mirrors
 * together.
 */
export class IngestionCapacity {
  readonly #counts = new Set<CountOwn>()
  readonly #listeners = new Set<() => void>()

  /** Counts a follower's resources until the result is disposed. */
  join(countOwn: CountOwn): Disposable {
    this.#counts.add(countOwn)
    return { [Symbol.dispose]: () => void this.#counts.delete(countOwn) }
  }

  /** Committed resources that are still being processed. */
  countPending(): number {
    let pending = 0
    for (const countOwn of this.#counts) pending += countOwn()
    return pending
  }

  /** Calls `listener` whenever there may be more capacity, and when polling failed. */
  onCapacity(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Resources left processing, or uploads ended without one. */
  announce(): void {
    for (const listener of this.#listeners) listener()
  }
}
