import { closeSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type Database from 'better-sqlite3'
import { OperatorError } from '../../foundation/errors.ts'
import { openOwnFile } from '../../foundation/files/own-file.ts'
import { isOutOfReach, openDatabase } from '../../foundation/sqlite/open-database.ts'
import { type FileIdentity, GenerationFile, type GenerationRecord, identityOf, isSameIdentity } from './generation.ts'
import { commitsOf, describeClosed, hasLog, type StoreFiles, type VerifiedStore } from './verify-store.ts'

/** The database that this process writes. Counts each durable commit in the database, then in its generation file. */
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

  /** Undefined if no other program has changed its files. */
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

/** SQLite writes the header with each checkpoint. */
const HEADER_BYTES = 100
/** The offset of the counter of changes in the header, which never decreases. */
const CHANGES_AT = 24
/** The first bytes of a log, for either byte order of its checksums. */
const LOG_MAGIC = [0x377f0682, 0x377f0683]
const MAGIC_BYTES = 4

/**
 * Notices when another program has deleted, replaced or overwritten a file of the open store: SQLite would go on, and its commits
 * would be missing at the next start.
 */
class OpenFiles implements Disposable {
  readonly #files: StoreFiles
  /** The inodes of the log, its index, and the generation file, by path. */
  readonly #inodes: ReadonlyMap<string, bigint | undefined>
  /** Stays open until SQLite has closed the database: closing it drops the locks of this process. */
  readonly #database: number
  readonly #log: number
  #place: FileIdentity | undefined
  #header: Buffer

  constructor(files: StoreFiles) {
    const { file } = files.spec
    const log = `${file}-wal`
    this.#files = files
    this.#inodes = new Map([log, `${file}-shm`, files.generationFile].map((path) => [path, inodeOf(path)]))
    this.#database = openOwnFile(file)
    this.#log = openOwnFile(log)
    this.#place = identityOf(file)
    this.#header = readStart(this.#database, HEADER_BYTES)
  }

  /** Undefined if no other program has changed the store. */
  findChange(): OperatorError | undefined {
    const { file } = this.#files.spec
    const place = identityOf(file)
    if (place?.inode !== this.#place?.inode) return storeIsGone(this.#files, file)
    for (const [path, inode] of this.#inodes) if (inodeOf(path) !== inode) return storeIsGone(this.#files, path)
    if (!this.#isLogWhole()) return storeIsChanged(this.#files, `${file}-wal`)
    if (isSameIdentity(place, this.#place)) return undefined
    return readStart(this.#database, HEADER_BYTES).equals(this.#header) ? undefined : storeIsChanged(this.#files, file)
  }

  /** Accepts changes by this process's transaction; throws OperatorError if the database is gone or another one. */
  accept(): FileIdentity {
    const { file } = this.#files.spec
    const place = identityOf(file)
    if (!place || place.inode !== this.#place?.inode) throw storeIsGone(this.#files, file)
    // Most transactions change only the log.
    if (isSameIdentity(place, this.#place)) return place
    const header = readStart(this.#database, HEADER_BYTES)
    if (header.length < HEADER_BYTES || changesOf(header) < changesOf(this.#header)) {
      throw storeIsChanged(this.#files, file)
    }
    this.#header = header
    this.#place = place
    return place
  }

  [Symbol.dispose](): void {
    closeSync(this.#database)
    closeSync(this.#log)
  }

  /** SQLite never shortens an open log: if another program cut it, SQLite would leave a hole. */
  #isLogWhole(): boolean {
    const start = readStart(this.#log, MAGIC_BYTES)
    return start.length === MAGIC_BYTES && LOG_MAGIC.includes(start.readUInt32BE())
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

function readStart(descriptor: number, lengthBytes: number): Buffer {
  const start = Buffer.alloc(lengthBytes)
  return start.subarray(0, readSync(descriptor, start, 0, lengthBytes, 0))
}

function changesOf(header: Buffer): number {
  return header.readUInt32BE(CHANGES_AT)
}

function storeIsGone({ directory }: StoreFiles, path: string): OperatorError {
  const text = `The store in "${directory}" was deleted or replaced while it was in use ("${basename(path)}")`
  return new OperatorError('store-damaged', `${text}; put it back and start again`)
}

function storeIsChanged({ directory }: StoreFiles, path: string): OperatorError {
  const text = `The store in "${directory}" was changed by another program while it was in use ("${basename(path)}")`
  return new OperatorError('store-damaged', `${text}; find out which, and start again: shelfd checks what is left`)
}
