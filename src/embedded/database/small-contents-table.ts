import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { DamagedBytesError, packBytes, unpackBytes } from '../contents/packed-bytes.ts'
import { keepRecent } from '../contents/read-part.ts'
import { type BlockPosition, PUBLIC_ID } from './resources-table.ts'

interface StoredContent {
  readonly bytes: Buffer
  readonly sizeBytes: number
}

const RECENT_BYTES = 2 ** 21

export type SmallContentsTable = ReturnType<typeof smallContentsTable>

/** Prepares the queries of small contents. They are compressed if that makes them shorter; the smallest ones share blocks. */
export function smallContentsTable(
  database: Database,
  blocks: Pick<ReturnType<typeof contentBlockReader>, 'read' | 'readSpan'> = contentBlockReader(database),
) {
  const insert = database.prepare<[number, Buffer]>('INSERT INTO small_content (resource_id, bytes) VALUES (?, ?)')
  const select = database.prepare<[number], StoredContent>(
    `SELECT bytes, size_bytes AS sizeBytes FROM small_content JOIN resource ON resource.id = resource_id
     WHERE resource_id = ?`,
  )
  const all = database.prepare<[], StoredContent & { publicId: string; sha256: Buffer }>(
    `SELECT ${PUBLIC_ID} AS publicId, sha256, size_bytes AS sizeBytes, bytes
     FROM small_content JOIN resource ON resource.id = resource_id`,
  )
  const inBlocks = database.prepare<[], Parameters<typeof blocks.readSpan>[0] & { publicId: string; sha256: Buffer }>(
    `SELECT ${PUBLIC_ID} AS publicId, sha256, size_bytes AS sizeBytes, block_id AS blockId, block_start AS blockStart
     FROM resource WHERE block_id IS NOT NULL`,
  )
  const recent = new RecentContents()
  return {
    insert: (resourceId: number, bytes: Buffer) => {
      insert.run(resourceId, packBytes(bytes))
      recent.keep(resourceId, bytes)
    },
    /** Returns the content of a resource, undefined if it is missing or not small. Throws DamagedBytesError. */
    read: (resourceId: number): Buffer | undefined => {
      const cached = recent.get(resourceId)
      if (cached) return cached
      const stored = select.get(resourceId)
      if (!stored) return blocks.read(resourceId)
      const bytes = unpackBytes(stored.bytes, stored.sizeBytes)
      recent.keep(resourceId, bytes)
      return bytes
    },
    /** Reads every small content; returns the identifier of a resource whose content does not match its hash, undefined if all match. */
    findDamaged(): string | undefined {
      for (const { publicId, sha256, ...stored } of all.iterate()) {
        if (!isIntact(sha256, () => unpackBytes(stored.bytes, stored.sizeBytes))) return publicId
      }
      for (const { publicId, sha256, ...span } of inBlocks.iterate()) {
        if (!isIntact(sha256, () => blocks.readSpan(span))) return publicId
      }
      return undefined
    },
  }
}

/**
 * Holds the most recent contents, up to RECENT_BYTES, because an upload is usually read soon, and the passages of a resource are read one
 * after the other. After a transaction was rolled back, the next insertion with the same id replaces the bytes.
 */
class RecentContents {
  readonly #contents = new Map<number, Buffer>()
  #bytes = 0

  get(resourceId: number): Buffer | undefined {
    return this.#contents.get(resourceId)
  }

  keep(resourceId: number, bytes: Buffer): void {
    this.#drop(resourceId)
    this.#contents.set(resourceId, bytes)
    this.#bytes += bytes.length
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= RECENT_BYTES) break
      this.#drop(oldest)
    }
  }

  #drop(resourceId: number): void {
    this.#bytes -= this.#contents.get(resourceId)?.length ?? 0
    this.#contents.delete(resourceId)
  }
}

function isIntact(sha256: Buffer, read: () => Buffer | undefined): boolean {
  try {
    const bytes = read()
    return bytes !== undefined && createHash('sha256').update(bytes).digest().equals(sha256)
  } catch (error) {
    if (error instanceof DamagedBytesError) return false
    throw error
  }
}

/** Contents up to this size share blocks, because short texts take a third less space if they are compressed together. */
export const MAX_SHARING_BYTES = 8 * 1024
/** The size of a full block. Reading one of its contents unpacks the whole block, which takes 50 µs. */
const BLOCK_BYTES = 32 * 1024
const MAX_OPEN = 16
/** How many unpacked blocks are cached (2 MB). A search reads some ten texts in as many blocks, and the next one often the same ones. */
const MAX_UNPACKED = 64

type BlockSpan = BlockPosition & { readonly sizeBytes: number }

/** A block with space for more contents of its library. */
interface OpenBlock {
  readonly id: number
  readonly libraryId: number
  readonly contents: readonly Buffer[]
  readonly sizeBytes: number
}

/**
 * The queries of blocks of small contents, each of one library. A block grows with each transaction until it is full; the positions of its
 * contents do not change. `flush` writes added contents to the database, in the same transaction.
 */
export type ContentBlocksTable = ReturnType<typeof contentBlocksTable>

export function contentBlocksTable(database: Database) {
  const { spanOf, readBlock, read, readSpan } = contentBlockReader(database)
  const insert = database.prepare<[number]>(
    "INSERT INTO content_block (library_id, size_bytes, bytes) VALUES (?, 0, x'')",
  )
  const update = database.prepare<[number, Buffer, number]>(
    'UPDATE content_block SET size_bytes = ?, bytes = ? WHERE id = ?',
  )
  const open = new Map<number, OpenBlock>()
  /** The blocks that the current transaction has changed, by their ids. */
  const changed = new Map<number, OpenBlock>()
  const erased = new Map<number, BlockSpan[]>()
  const openBlockOf = (libraryId: number, neededBytes: number): OpenBlock => {
    const ofLibrary = [...changed.values()].filter((block) => block.libraryId === libraryId)
    const block = ofLibrary.at(-1) ?? open.get(libraryId)
    if (block && block.sizeBytes + neededBytes <= BLOCK_BYTES) return block
    return { id: Number(insert.run(libraryId).lastInsertRowid), libraryId, contents: [], sizeBytes: 0 }
  }
  return {
    read,
    readSpan,
    /** Overwrites the content of a resource with zeros if it shares a block. */
    erase(resourceId: number): void {
      const span = spanOf(resourceId)
      if (span) erased.set(span.blockId, [...(erased.get(span.blockId) ?? []), span])
    },
    /** Adds a content to the open block of its library, and returns its position. */
    add(libraryId: number, bytes: Buffer): BlockPosition {
      const { id, contents, sizeBytes } = openBlockOf(libraryId, bytes.length)
      const grown = { id, libraryId, contents: [...contents, bytes], sizeBytes: sizeBytes + bytes.length }
      changed.set(id, grown)
      return { blockId: id, blockStart: sizeBytes }
    },
    /** Begins a transaction, and discards the changes of an earlier one that failed. */
    begin: () => {
      changed.clear()
      erased.clear()
    },
    /** Writes the blocks with added or erased contents. */
    flush: () => {
      for (const id of new Set([...changed.keys(), ...erased.keys()])) {
        const block = changed.get(id)
        const bytes = block ? Buffer.concat(block.contents) : readBlock(id)
        if (!bytes) continue
        for (const { blockStart, sizeBytes } of erased.get(id) ?? []) bytes.fill(0, blockStart, blockStart + sizeBytes)
        update.run(bytes.length, packBytes(bytes), id)
      }
    },
    /** Call it when the transaction is durable, so that the next one can continue its blocks. */
    committed: () => {
      for (const block of changed.values()) keepRecent(open, block.libraryId, block, MAX_OPEN)
      // Nothing is added to a block with erased bytes.
      for (const [libraryId, { id }] of open) if (erased.has(id)) open.delete(libraryId)
      changed.clear()
      erased.clear()
    },
  }
}

/** Reads contents that share a block. */
function contentBlockReader(database: Database) {
  const spanOf = database.prepare<[number], BlockSpan>(
    `SELECT block_id AS blockId, block_start AS blockStart, size_bytes AS sizeBytes FROM resource
     WHERE id = ? AND block_id IS NOT NULL`,
  )
  const select = database.prepare<[number], { sizeBytes: number; bytes: Buffer }>(
    'SELECT size_bytes AS sizeBytes, bytes FROM content_block WHERE id = ?',
  )
  const unpacked = new Map<number, Buffer>()
  /** Returns a block with at least `length` bytes, undefined if it does not exist. A cached block may be shorter than the stored one. */
  const blockOf = (id: number, length: number): Buffer | undefined => {
    const cached = unpacked.get(id)
    if (cached && cached.length >= length) return cached
    const stored = select.get(id)
    if (!stored) return undefined
    const bytes = unpackBytes(stored.bytes, stored.sizeBytes)
    keepRecent(unpacked, id, bytes, MAX_UNPACKED)
    return bytes
  }
  const readSpan = ({ blockId, blockStart, sizeBytes }: BlockSpan): Buffer | undefined =>
    blockOf(blockId, blockStart + sizeBytes)?.subarray(blockStart, blockStart + sizeBytes)
  return {
    spanOf: (resourceId: number) => spanOf.get(resourceId),
    /** Returns a copy of the whole block, and drops it from the cache. */
    readBlock: (id: number): Buffer | undefined => {
      unpacked.delete(id)
      const stored = select.get(id)
      return stored && Buffer.from(unpackBytes(stored.bytes, stored.sizeBytes))
    },
    /** Returns the content of a resource, undefined if it shares no block. Throws DamagedBytesError. */
    read: (resourceId: number): Buffer | undefined => {
      const span = spanOf.get(resourceId)
      return span && readSpan(span)
    },
    readSpan,
  }
}
