import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { DamagedBytesError, packBytes, unpackBytes } from '../contents/packed-bytes.ts'
import { keepRecent } from '../contents/read-part.ts'
import { type BlockPlace, PUBLIC_ID } from './resources-table.ts'

interface StoredContent {
  readonly bytes: Buffer
  readonly sizeBytes: number
}

const RECENT_BYTES = 2 ** 21

export type SmallContentsTable = ReturnType<typeof smallContentsTable>

/** The bytes of small files, by resource, compressed where that makes them shorter; the smallest ones share blocks. */
export function smallContentsTable(
  database: Database,
  blocks: Pick<ReturnType<typeof contentBlockReader>, 'read' | 'readPlace'> = contentBlockReader(database),
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
  const inBlocks = database.prepare<[], Parameters<typeof blocks.readPlace>[0] & { publicId: string; sha256: Buffer }>(
    `SELECT ${PUBLIC_ID} AS publicId, sha256, size_bytes AS sizeBytes, block_id AS blockId, block_start AS blockStart
     FROM resource WHERE block_id IS NOT NULL`,
  )
  const recent = new RecentContents()
  return {
    insert: (resourceId: number, bytes: Buffer) => {
      insert.run(resourceId, packBytes(bytes))
      recent.keep(resourceId, bytes)
    },
    /** Throws DamagedBytesError. */
    read: (resourceId: number): Buffer | undefined => {
      const known = recent.get(resourceId)
      if (known) return known
      const stored = select.get(resourceId)
      if (!stored) return blocks.read(resourceId)
      const bytes = unpackBytes(stored.bytes, stored.sizeBytes)
      recent.keep(resourceId, bytes)
      return bytes
    },
    /** The identifier of a resource whose bytes are not those of its hash; undefined when all are. Reads every content. */
    findDamaged(): string | undefined {
      for (const { publicId, sha256, ...stored } of all.iterate()) {
        if (!isWhole(sha256, () => unpackBytes(stored.bytes, stored.sizeBytes))) return publicId
      }
      for (const { publicId, sha256, ...place } of inBlocks.iterate()) {
        if (!isWhole(sha256, () => blocks.readPlace(place))) return publicId
      }
      return undefined
    },
  }
}

/**
 * The last contents, up to RECENT_BYTES: what was uploaded is ingested and asked for next, and passages of a resource are read one after
 * the other. An id that a transaction took before it was rolled back gets its bytes anew when it is inserted again.
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

function isWhole(sha256: Buffer, read: () => Buffer | undefined): boolean {
  try {
    const bytes = read()
    return bytes !== undefined && createHash('sha256').update(bytes).digest().equals(sha256)
  } catch (error) {
    if (error instanceof DamagedBytesError) return false
    throw error
  }
}

/** Contents up to this size share blocks: compressed together, short texts take a third less room than each for itself. */
export const MAX_SHARING_BYTES = 8 * 1024
/** To read one content, all of its block is unpacked, which takes 50 µs. */
const BLOCK_BYTES = 32 * 1024
const MAX_OPEN = 16
/** 2 MB; a search reads some ten texts out of as many blocks, and the next one often the same. */
const MAX_UNPACKED = 64

type PlaceInBlock = BlockPlace & { readonly sizeBytes: number }

/** A block with room for more contents of its library. */
interface OpenBlock {
  readonly id: number
  readonly libraryId: number
  readonly contents: readonly Buffer[]
  readonly sizeBytes: number
}

/**
 * Blocks of small contents of one library each. A block grows with each transaction until it is full; a content in it keeps its place.
 * An added content is in the database once `flush` was called in the same transaction.
 */
export type ContentBlocksTable = ReturnType<typeof contentBlocksTable>

export function contentBlocksTable(database: Database) {
  const { placeOf, readBlock, read, readPlace } = contentBlockReader(database)
  const insert = database.prepare<[number]>(
    "INSERT INTO content_block (library_id, size_bytes, bytes) VALUES (?, 0, x'')",
  )
  const update = database.prepare<[number, Buffer, number]>(
    'UPDATE content_block SET size_bytes = ?, bytes = ? WHERE id = ?',
  )
  const open = new Map<number, OpenBlock>()
  /** The blocks as the transaction under way has changed them, by their ids. */
  const changed = new Map<number, OpenBlock>()
  const erased = new Map<number, PlaceInBlock[]>()
  const openBlockOf = (libraryId: number, room: number): OpenBlock => {
    const ofLibrary = [...changed.values()].filter((block) => block.libraryId === libraryId)
    const block = ofLibrary.at(-1) ?? open.get(libraryId)
    if (block && block.sizeBytes + room <= BLOCK_BYTES) return block
    return { id: Number(insert.run(libraryId).lastInsertRowid), libraryId, contents: [], sizeBytes: 0 }
  }
  return {
    read,
    readPlace,
    /** Overwrites the bytes of a resource in its block, if it shares one, by zeros. */
    erase(resourceId: number): void {
      const place = placeOf(resourceId)
      if (place) erased.set(place.blockId, [...(erased.get(place.blockId) ?? []), place])
    },
    /** Adds a content to the open block of its library. */
    add(libraryId: number, bytes: Buffer): BlockPlace {
      const { id, contents, sizeBytes } = openBlockOf(libraryId, bytes.length)
      const grown = { id, libraryId, contents: [...contents, bytes], sizeBytes: sizeBytes + bytes.length }
      changed.set(id, grown)
      return { blockId: id, blockStart: sizeBytes }
    },
    /** A transaction begins: what one before it added, which failed, is forgotten. */
    begin: () => {
      changed.clear()
      erased.clear()
    },
    /** Writes what was added or erased. */
    flush: () => {
      for (const id of new Set([...changed.keys(), ...erased.keys()])) {
        const block = changed.get(id)
        const bytes = block ? Buffer.concat(block.contents) : readBlock(id)
        if (!bytes) continue
        for (const { blockStart, sizeBytes } of erased.get(id) ?? []) bytes.fill(0, blockStart, blockStart + sizeBytes)
        update.run(bytes.length, packBytes(bytes), id)
      }
    },
    /** The transaction is durable, so that the next one may continue its blocks. */
    committed: () => {
      for (const block of changed.values()) keepRecent(open, block.libraryId, block, MAX_OPEN)
      // What comes next goes into another block than one with erased bytes.
      for (const [libraryId, { id }] of open) if (erased.has(id)) open.delete(libraryId)
      changed.clear()
      erased.clear()
    },
  }
}

/** Reads contents that share a block. */
function contentBlockReader(database: Database) {
  const placeOf = database.prepare<[number], PlaceInBlock>(
    `SELECT block_id AS blockId, block_start AS blockStart, size_bytes AS sizeBytes FROM resource
     WHERE id = ? AND block_id IS NOT NULL`,
  )
  const select = database.prepare<[number], { sizeBytes: number; bytes: Buffer }>(
    'SELECT size_bytes AS sizeBytes, bytes FROM content_block WHERE id = ?',
  )
  const unpacked = new Map<number, Buffer>()
  /** At least `length` bytes of a block; undefined when it is gone. */
  const blockOf = (id: number, length: number): Buffer | undefined => {
    const known = unpacked.get(id)
    if (known && known.length >= length) return known
    const stored = select.get(id)
    if (!stored) return undefined
    const bytes = unpackBytes(stored.bytes, stored.sizeBytes)
    keepRecent(unpacked, id, bytes, MAX_UNPACKED)
    return bytes
  }
  const readPlace = ({ blockId, blockStart, sizeBytes }: PlaceInBlock): Buffer | undefined =>
    blockOf(blockId, blockStart + sizeBytes)?.subarray(blockStart, blockStart + sizeBytes)
  return {
    placeOf: (resourceId: number) => placeOf.get(resourceId),
    /** A copy of the whole block, which is read anew the next time. */
    readBlock: (id: number): Buffer | undefined => {
      unpacked.delete(id)
      const stored = select.get(id)
      return stored && Buffer.from(unpackBytes(stored.bytes, stored.sizeBytes))
    },
    /** Undefined when the resource shares no block. Throws DamagedBytesError. */
    read: (resourceId: number): Buffer | undefined => {
      const place = placeOf.get(resourceId)
      return place && readPlace(place)
    },
    readPlace,
  }
}
