import { closeSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type Database from 'better-sqlite3'
import { OperatorError } from '../../foundation/errors.ts'
import { openOwnFile } from '../../foundation/files/own-file.ts'
import { isOutOfReach, openDatabase } from '../../foundation/sqlite/open-database.ts'
import { type FileIdentity, GenerationFile, type GenerationRecord, identityOf, isSameIdentity } from './generation.ts'
import { commitsOf, describeClosed, hasLog, type StoreFiles, type VerifiedStore } from './verify-store.ts'

/** The database that this process writes. It counts each durable commit, first in the database, then in the generation file. */
export class WritableDatabase implements Disposable {
  readonly database: Database.Database
  /** The database may lack receipts of earlier uploads. */
  readonly isOfUnknownAge: boolean
  readonly #files: StoreFiles
  readonly #generation: GenerationFile
  readonly #open: OpenFiles
  readonly #count: Database.Statement<[string]>
  #commits: number
  #identity: FileIdentity | null

  constructor(files: StoreFiles, { generation, isOfUnknownAge }: VerifiedStore) {
    this.#files = files
    this.isOfUnknownAge = isOfUnknownAge
    // Before the first change, the generation file must record that the database is no longer closed.
    if (generation?.closed) recordOpening(files.generationFile, generation)
    this.database = openDatabase(files.spec)
    try {
      this.#commits = commitsOf(this.database)
      this.#count = this.database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('commits', ?)")
      this.#identity = generation?.place ?? null
      this.#generation = new GenerationFile(files.generationFile, { commits: 0, place: null, closed: null })
      this.#open = new OpenFiles(files)
    } catch (error) {
      this.database.close()
      throw error
    }
  }

  /** Returns undefined if no other program has changed the files of the store. */
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

  /** Inside a transaction it belongs to that one, because SQLite can't change `synchronous` there. */
  writeRelaxed<T>(work: () => T): T {
    const transaction = this.database.transaction(work)
    if (this.database.inTransaction) return transaction()
    const result = this.#withoutWaiting(() => transaction.immediate())
    // A checkpoint changes the file's ctime, which the generation file records.
    const identity = this.#open.accept()
    if (!isSameIdentity(identity, this.#identity)) this.#recordCommits(identity)
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

  #recordCommits(identity: FileIdentity): void {
    this.#identity = identity
    this.#generation.write({ commits: this.#commits, place: identity, closed: null })
  }
}

function recordOpening(generationFile: string, generation: GenerationRecord): void {
  using file = new GenerationFile(generationFile, generation)
  file.writeDurably({ ...generation, closed: null })
}

/** The length of the database header, which SQLite writes with each checkpoint. */
const HEADER_BYTES = 100
/** The offset of the counter of changes in the header, which never decreases. */
const CHANGES_AT = 24
/** The first bytes of a log, for either byte order of its checksums. */
const LOG_MAGIC = [0x377f0682, 0x377f0683]
const MAGIC_BYTES = 4

/**
 * Finds out whether another program has deleted, replaced or overwritten a file of the open store. SQLite would not notice it, and its
 * commits would be missing at the next start.
 */
class OpenFiles implements Disposable {
  readonly #files: StoreFiles
  /** The inodes of the log, its index, and the generation file, by path. */
  readonly #inodes: ReadonlyMap<string, bigint | undefined>
  /** Stays open until SQLite has closed the database, because closing it drops all locks that this process has on the file. */
  readonly #database: number
  readonly #log: number
  #identity: FileIdentity | undefined
  #header: Buffer

  constructor(files: StoreFiles) {
    const { file } = files.spec
    const log = `${file}-wal`
    this.#files = files
    this.#inodes = new Map([log, `${file}-shm`, files.generationFile].map((path) => [path, inodeOf(path)]))
    this.#database = openOwnFile(file)
    this.#log = openOwnFile(log)
    this.#identity = identityOf(file)
    this.#header = readStart(this.#database, HEADER_BYTES)
  }

  /** Returns undefined if no other program has changed the store. */
  findChange(): OperatorError | undefined {
    const { file } = this.#files.spec
    const identity = identityOf(file)
    if (identity?.inode !== this.#identity?.inode) return deletedStore(this.#files, file)
    for (const [path, inode] of this.#inodes) if (inodeOf(path) !== inode) return deletedStore(this.#files, path)
    if (!this.#isLogWhole()) return overwrittenStore(this.#files, `${file}-wal`)
    if (isSameIdentity(identity, this.#identity)) return undefined
    return readStart(this.#database, HEADER_BYTES).equals(this.#header)
      ? undefined
      : overwrittenStore(this.#files, file)
  }

  /** Accepts the changes of a transaction of this process. Throws OperatorError if the database is gone or was replaced. */
  accept(): FileIdentity {
    const { file } = this.#files.spec
    const identity = identityOf(file)
    if (!identity || identity.inode !== this.#identity?.inode) throw deletedStore(this.#files, file)
    // Most transactions change only the log.
    if (isSameIdentity(identity, this.#identity)) return identity
    const header = readStart(this.#database, HEADER_BYTES)
    if (header.length < HEADER_BYTES || changesOf(header) < changesOf(this.#header)) {
      throw overwrittenStore(this.#files, file)
    }
    this.#header = header
    this.#identity = identity
    return identity
  }

  [Symbol.dispose](): void {
    closeSync(this.#database)
    closeSync(this.#log)
  }

  /** Returns false if another program cut the log. SQLite never shortens an open log, and would write on behind a hole. */
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

function deletedStore({ directory }: StoreFiles, path: string): OperatorError {
  const text = `The store in "${directory}" was deleted or replaced while it was in use ("${basename(path)}")`
  return new OperatorError('store-damaged', `${text}; put it back and start again`)
}

function overwrittenStore({ directory }: StoreFiles, path: string): OperatorError {
  const text = `The store in "${directory}" was changed by another program while it was in use ("${basename(path)}")`
  return new OperatorError('store-damaged', `${text}; find out which, and start again: shelfd checks what is left`)
}
