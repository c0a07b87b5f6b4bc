import type Database from 'better-sqlite3'
import { OperatorError } from '../../foundation/errors.ts'
import { type DatabaseSpec, isOutOfReach, openDatabase } from '../../foundation/sqlite/open-database.ts'
import { type FilePlace, GenerationFile, type GenerationRecord, isSamePlace, placeOf } from './generation.ts'
import { commitsOf, describeClosed, hasLog, type VerifiedStore } from './verify-store.ts'

interface HeldFiles {
  readonly directory: string
  readonly spec: DatabaseSpec
  readonly generationFile: string
}

/** The store's database while this process holds it. Counts each durable commit in the database, then in its generation file. */
export class HeldDatabase implements Disposable {
  readonly database: Database.Database
  /** The database may lack receipts of earlier uploads. */
  readonly isOfUnknownAge: boolean
  readonly #files: HeldFiles
  readonly #generation: GenerationFile
  readonly #inode: bigint | undefined
  readonly #count: Database.Statement<[string]>
  #commits: number
  #place: FilePlace | null

  constructor(files: HeldFiles, { generation, check, isOfUnknownAge }: VerifiedStore) {
    this.#files = files
    this.isOfUnknownAge = isOfUnknownAge
    // Before the first change, the generation file must record that the database is no longer closed.
    if (generation?.closed) recordOpening(files.generationFile, generation)
    this.database = openDatabase({ ...files.spec, check })
    try {
      this.#commits = commitsOf(this.database)
      this.#count = this.database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('commits', ?)")
      this.#place = generation?.place ?? null
      this.#inode = placeOf(files.spec.file)?.inode
      this.#generation = new GenerationFile(files.generationFile, { commits: 0, place: null, closed: null })
    } catch (error) {
      this.database.close()
      throw error
    }
  }

  /** False when the file was deleted or replaced. */
  get isInPlace(): boolean {
    return placeOf(this.#files.spec.file)?.inode === this.#inode
  }

  write<T>(work: () => T): T {
    const commits = this.#commits + 1
    const counted = () => {
      const result = work()
      this.#count.run(String(commits))
      return result
    }
    const result = this.database.transaction(counted).immediate()
    // A rehearsal rolls back, so nothing is committed.
    if (this.database.inTransaction) return result
    this.#commits = commits
    this.#recordCommits(this.#findPlace())
    return result
  }

  /** SQLite can't change `synchronous` inside a transaction, so a rehearsal keeps its setting. */
  writeRelaxed<T>(work: () => T): T {
    const transaction = this.database.transaction(work)
    if (this.database.inTransaction) return transaction()
    const result = this.#withoutWaiting(() => transaction.immediate())
    // A checkpoint changes the file's ctime, which the generation file records.
    const place = this.#findPlace()
    if (!isSamePlace(place, this.#place)) this.#recordCommits(place)
    return result
  }

  #withoutWaiting<T>(work: () => T): T {
    this.database.pragma('synchronous = NORMAL')
    try {
      return work()
    } finally {
      this.database.pragma('synchronous = FULL')
    }
  }

  /** Closes the database and records its size and checksum in the generation file. */
  [Symbol.dispose](): void {
    const { file } = this.#files.spec
    using generation = this.#generation
    this.database.close()
    const place = placeOf(file)
    if (!place || place.inode !== this.#inode) return
    try {
      // If a reader keeps the log, the database file alone is incomplete.
      generation.writeDurably({ commits: this.#commits, place, closed: hasLog(file) ? null : describeClosed(file) })
    } catch (error) {
      // The old generation file records that the store is open, so the next opening checks it as after a crash.
      if (!isOutOfReach(error)) throw error
    }
  }

  /** Leaves the database and its generation file as a crash would. */
  abandon(): void {
    this.database.close()
    this.#generation[Symbol.dispose]()
  }

  #recordCommits(place: FilePlace): void {
    this.#place = place
    this.#generation.write({ commits: this.#commits, place, closed: null })
  }

  #findPlace(): FilePlace {
    const { spec, directory } = this.#files
    const place = placeOf(spec.file)
    if (place && place.inode === this.#inode) return place
    throw storeIsGone(directory)
  }
}

/** The error for a store whose file was deleted or replaced. */
export function storeIsGone(directory: string): OperatorError {
  const text = `The store in "${directory}" was deleted or replaced while it was in use`
  return new OperatorError('store-damaged', `${text}; put it back and start again`)
}

function recordOpening(generationFile: string, generation: GenerationRecord): void {
  using file = new GenerationFile(generationFile, generation)
  file.writeDurably({ ...generation, closed: null })
}
