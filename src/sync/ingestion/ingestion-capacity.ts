/** The stage that follows ingestion, as uploads see it. */
export interface Follower {
  readonly hasFailed: boolean
}

/** Counts a follower's resources that are not overdue. */
type CountOwn = () => number

/** How much is in ingestion over all followers of the process; `inIngestion` bounds it for all mirrors together. */
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

  onCapacity(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Resources left processing, or uploads ended without one. */
  announce(): void {
    for (const listener of this.#listeners) listener()
  }
}
