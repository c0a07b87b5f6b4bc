/** Tables in memory whose commits can be undone. */
export class Journal {
  readonly #commits: (() => void)[][] = []
  #undos: (() => void)[] = []
  /** How many commits are on the disk. */
  #flushed = 0

  get size(): number {
    return this.#commits.length
  }

  table<V>(): JournalTable<V> {
    return new JournalTable<V>((undo) => this.#undos.push(undo))
  }

  /** Makes what `work` writes one commit; nothing of it stays if it throws. `isFlushed`: waits until it and all before it are on the disk. */
  commit<T>(work: () => T, isFlushed = true): T {
    this.#undos = []
    try {
      const result = work()
      if (this.#undos.length > 0) this.#commits.push(this.#undos)
      if (isFlushed) this.#flushed = this.#commits.length
      return result
    } catch (error) {
      undoAll(this.#undos)
      throw error
    }
  }

  /** Undoes what is not on the disk, as a crash does. */
  crash(): void {
    this.undo(this.#commits.length - this.#flushed)
  }

  /** Undoes the newest commits. */
  undo(count: number): void {
    const undone = this.#commits.splice(Math.max(0, this.#commits.length - count))
    this.#flushed = Math.min(this.#flushed, this.#commits.length)
    for (const undos of undone.reverse()) undoAll(undos)
  }
}

/** Rows by key; a row is never changed, but replaced. */
export class JournalTable<V> {
  readonly #rows = new Map<string, V>()
  readonly #record: (undo: () => void) => void

  constructor(record: (undo: () => void) => void) {
    this.#record = record
  }

  get(key: string): V | undefined {
    return this.#rows.get(key)
  }

  entries(): IterableIterator<[string, V]> {
    return this.#rows.entries()
  }

  set(key: string, value: V): void {
    this.#recordRow(key)
    this.#rows.set(key, value)
  }

  delete(key: string): void {
    this.#recordRow(key)
    this.#rows.delete(key)
  }

  #recordRow(key: string): void {
    const before = this.#rows.get(key)
    this.#record(() => {
      if (before === undefined) this.#rows.delete(key)
      else this.#rows.set(key, before)
    })
  }
}

function undoAll(undos: (() => void)[]): void {
  for (const undo of undos.reverse()) undo()
}
