/** What the upload stage sees of the stage that follows ingestion. */
export interface Follower {
  readonly hasFailed: boolean
}

/** Counts a follower's resources that are not overdue. */
type CountOwn = () => number

/** Counts what all followers of this process have in ingestion, because `inIngestion` bounds all mirrors together. */
export class IngestionCapacity {
  readonly #counts = new Set<CountOwn>()
  readonly #listeners = new Set<() => void>()

  /** Counts a follower's resources until the result is disposed. */
  join(countOwn: CountOwn): Disposable {
    this.#counts.add(countOwn)
    return { [Symbol.dispose]: () => void this.#counts.delete(countOwn) }
  }

  /** Returns how many resources of all followers are in ingestion; overdue ones do not count. */
  countPending(): number {
    let pending = 0
    for (const countOwn of this.#counts) pending += countOwn()
    return pending
  }

  onCapacity(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Calls the listeners, because capacity may be free: ingestion of a resource ended, or an upload ended without a resource. */
  announce(): void {
    for (const listener of this.#listeners) listener()
  }
}
