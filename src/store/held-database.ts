import type Database from 'better-sqlite3'
import { OperatorError } from '../foundation/errors.ts'
import { type DatabaseSpec, isOutOfReach, openDatabase } from '../foundation/sqlite/open-database.ts'
import { type FilePlace, GenerationFile, type GenerationNote, isSamePlace, placeOf } from './generation.ts'
import { commitsOf, describeClosed, hasLog, type VerifiedStore } from './verify-store.ts'

interface HeldFiles {
  readonly directory: string
  readonly spec: DatabaseSpec
  readonly noteFile: string
}

/** The store's database while this process holds it: each durable commit is counted in it, and then in the note beside it. */
export class HeldDatabase implements Disposable {
  readonly database: Database.Database
  /** It may lack any of what was acknowledged. */
  readonly isOfUnknownAge: boolean
  readonly #files: HeldFiles
  readonly #note: GenerationFile
  readonly #inode: bigint | undefined
  readonly #count: Database.Statement<[string]>
  #commits: number
  #place: FilePlace | null

  constructor(files: HeldFiles, { note, check, isOfUnknownAge }: VerifiedStore) {
    this.#files = files
    this.isOfUnknownAge = isOfUnknownAge
    // Before the first change: the database is no longer as it was closed, and as old as before.
    if (note?.closed) noteOpening(files.noteFile, note)
    this.database = openDatabase({ ...files.spec, check })
    try {
      this.#commits = commitsOf(this.database)
      this.#count = this.database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('commits', ?)")
      this.#place = note?.place ?? null
      this.#inode = placeOf(files.spec.file)?.inode
      this.#note = new GenerationFile(files.noteFile, { commits: 0, place: null, closed: null })
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
    // What is rehearsed is no commit.
    if (this.database.inTransaction) return result
    this.#commits = commits
    this.#noteCommits(this.#findPlace())
    return result
  }

  /** `synchronous` can't be changed inside a transaction, so a rehearsal keeps what it has. */
  writeRelaxed<T>(work: () => T): T {
    const transaction = this.database.transaction(work)
    if (this.database.inTransaction) return transaction()
    const result = this.#withoutWaiting(() => transaction.immediate())
    // A checkpoint changes the database file, and so what tells it from a copy.
    const place = this.#findPlace()
    if (!isSamePlace(place, this.#place)) this.#noteCommits(place)
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

  /** Closes it in good order and notes what was left. */
  [Symbol.dispose](): void {
    const { file } = this.#files.spec
    using note = this.#note
    this.database.close()
    const place = placeOf(file)
    if (!place || place.inode !== this.#inode) return
    try {
      // A reader may keep the log: then the database alone is not all there is.
      note.writeDurably({ commits: this.#commits, place, closed: hasLog(file) ? null : describeClosed(file) })
    } catch (error) {
      // The old note says that the store is open: the next opening looks at it more closely, as after a crash.
      if (!isOutOfReach(error)) throw error
    }
  }

  /** Leaves it as a crash would. */
  abandon(): void {
    this.database.close()
    this.#note[Symbol.dispose]()
  }

  #noteCommits(place: FilePlace): void {
    this.#place = place
    this.#note.write({ commits: this.#commits, place, closed: null })
  }

  #findPlace(): FilePlace {
    const { spec, directory } = this.#files
    const place = placeOf(spec.file)
    if (place && place.inode === this.#inode) return place
    throw storeIsGone(directory)
  }
}

/** The store's file was deleted or replaced by somebody. */
export function storeIsGone(directory: string): OperatorError {
  const text = `The store in "${directory}" was deleted or replaced while it was in use`
  return new OperatorError('store-damaged', `${text}; put it back and start again`)
}

function noteOpening(noteFile: string, note: GenerationNote): void {
  using file = new GenerationFile(noteFile, note)
  file.writeDurably({ ...note, closed: null })
}
