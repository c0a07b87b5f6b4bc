import { closeSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { OperatorError } from '../../foundation/errors.ts'
import { openOwnFile } from '../../foundation/files/own-file.ts'
import { type FileIdentity, identityOf, isSameIdentity } from './generation.ts'
import type { StoreFiles } from './verify-store.ts'

/** SQLite writes the header with each checkpoint. */
const HEADER_BYTES = 100
/** Where the header counts changes: never down. */
const CHANGES_AT = 24
/** A log begins so, for either order of bytes in its checksums. */
const LOG_MAGIC = [0x377f0682, 0x377f0683]
const MAGIC_BYTES = 4

/**
 * Notices when another program has deleted, replaced or overwritten a file of the open store: SQLite would go on, and the next start
 * would lack what it commits.
 */
export class OpenFiles implements Disposable {
  readonly #files: StoreFiles
  /** Of the log, its index, and the generation file, by path. */
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

  /** Undefined if nobody else has touched the store. */
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

  /** SQLite never shortens its log while it is open; after a cut it would write behind a hole. */
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
