import type Database from 'better-sqlite3'
import type { OperatorError } from '../../foundation/errors.ts'
import { isOutOfReach, openDatabase } from '../../foundation/sqlite/open-database.ts'
import { type FileIdentity, GenerationFile, type GenerationRecord, identityOf, isSameIdentity } from './generation.ts'
import { OpenFiles } from './open-files.ts'
import { commitsOf, describeClosed, hasLog, type StoreFiles, type VerifiedStore } from './verify-store.ts'

/** The database while this process holds it. Counts each durable commit in the database, then in its generation file. */
export class WritableDatabase implements Disposable {
  readonly database: Database.Database
  /** The database may lack receipts of earlier uploads. */
  readonly isOfUnknownAge: boolean
  readonly #files: StoreFiles
  readonly #generation: GenerationFile
  readonly #open: OpenFiles
  readonly #count: Database.Statement<[string]>
  #commits: number
  #place: FileIdentity | null

  constructor(files: StoreFiles, { generation, isOfUnknownAge }: VerifiedStore) {
    this.#files = files
    this.isOfUnknownAge = isOfUnknownAge
    // Before the first change, the generation file must record that the database is no longer closed.
    if (generation?.closed) recordOpening(files.generationFile, generation)
    this.database = openDatabase(files.spec)
    try {
      this.#commits = commitsOf(this.database)
      this.#count = this.database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('commits', ?)")
      this.#place = generation?.place ?? null
      this.#generation = new GenerationFile(files.generationFile, { commits: 0, place: null, closed: null })
      this.#open = new OpenFiles(files)
    } catch (error) {
      this.database.close()
      throw error
    }
  }

  /** Undefined if nobody else has touched its files. */
  findChange(): OperatorError | undefined {
    return this.#open.findChange()
  }

  write<T>(work: () => T): T {
    const change = this.findChange()
    if (change) throw change
    const commits = this.#commits + 1
    const counted = () => {
      const result = work()
      this.#count.run(String(commits))
      return result
    }
    const result = this.database.transaction(counted).immediate()
    if (this.database.inTransaction) return result
    this.#commits = commits
    this.#recordCommits(this.#open.accept())
    return result
  }

  /** SQLite can't change `synchronous` inside a transaction. */
  writeRelaxed<T>(work: () => T): T {
    const transaction = this.database.transaction(work)
    if (this.database.inTransaction) return transaction()
    const result = this.#withoutWaiting(() => transaction.immediate())
    // A checkpoint changes the file's ctime, which the generation file records.
    const place = this.#open.accept()
    if (!isSameIdentity(place, this.#place)) this.#recordCommits(place)
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

  [Symbol.dispose](): void {
    const { file } = this.#files.spec
    using generation = this.#generation
    using open = this.#open
    const isUnchanged = open.findChange() === undefined
    this.database.close()
    const place = identityOf(file)
    if (!place || !isUnchanged) return
    try {
      // If a reader keeps the log, the database file alone is incomplete.
      generation.writeDurably({ commits: this.#commits, place, closed: hasLog(file) ? null : describeClosed(file) })
    } catch (error) {
      // The old generation file records that the store is open, so the next opening checks it as after a crash.
      if (!isOutOfReach(error)) throw error
    }
  }

  /** Leaves the files as a crash would. */
  abandon(): void {
    this.database.close()
    this.#generation[Symbol.dispose]()
    this.#open[Symbol.dispose]()
  }

  #recordCommits(place: FileIdentity): void {
    this.#place = place
    this.#generation.write({ commits: this.#commits, place, closed: null })
  }
}

function recordOpening(generationFile: string, generation: GenerationRecord): void {
  using file = new GenerationFile(generationFile, generation)
  file.writeDurably({ ...generation, closed: null })
}
