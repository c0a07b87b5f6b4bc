import type { Database } from 'better-sqlite3'
import { packBytes, unpackBytes } from '../../contents/packed-bytes.ts'

/** Contents up to this size share blocks: compressed together, short texts take a third less room than each for itself. */
export const MAX_SHARING_BYTES = 8 * 1024
/** To read one content, all of its block is unpacked, which takes 50 µs. */
const BLOCK_BYTES = 32 * 1024
const MAX_OPEN = 16
const MAX_UNPACKED = 8

/** Where a content begins in a block of several. */
export interface BlockPlace {
  readonly blockId: number
  readonly blockStart: number
}

/** A block with room for more contents of its library. */
interface OpenBlock {
  readonly id: number
  readonly libraryId: number
  readonly contents: readonly Buffer[]
  readonly sizeBytes: number
}

export type ContentBlocksTable = ReturnType<typeof contentBlocksTable>

/**
 * Blocks of small contents of one library each. A block grows with each transaction until it is full; a content in it keeps its place.
 * What is added stands in the database once `flush` was called in the same transaction.
 */
export function contentBlocksTable(database: Database) {
  const insert = database.prepare<[number]>(
    "INSERT INTO content_block (library_id, size_bytes, bytes) VALUES (?, 0, x'')",
  )
  const update = database.prepare<[number, Buffer, number]>(
    'UPDATE content_block SET size_bytes = ?, bytes = ? WHERE id = ?',
  )
  const open = new Map<number, OpenBlock>()
  /** As they are in the transaction under way, by their ids. */
  const changed = new Map<number, OpenBlock>()
  const openBlockOf = (libraryId: number, room: number): OpenBlock => {
    const ofLibrary = [...changed.values()].filter((block) => block.libraryId === libraryId)
    const block = ofLibrary.at(-1) ?? open.get(libraryId)
    if (block && block.sizeBytes + room <= BLOCK_BYTES) return block
    return { id: Number(insert.run(libraryId).lastInsertRowid), libraryId, contents: [], sizeBytes: 0 }
  }
  return {
    ...contentBlockReader(database),
    /** Adds a content to the open block of its library. */
    add(libraryId: number, bytes: Buffer): BlockPlace {
      const { id, contents, sizeBytes } = openBlockOf(libraryId, bytes.length)
      const grown = { id, libraryId, contents: [...contents, bytes], sizeBytes: sizeBytes + bytes.length }
      changed.set(id, grown)
      return { blockId: id, blockStart: sizeBytes }
    },
    /** A transaction begins: what one before it added, which failed, is forgotten. */
    begin: () => changed.clear(),
    /** Writes what was added. */
    flush: () => {
      for (const { id, contents, sizeBytes } of changed.values()) {
        update.run(sizeBytes, packBytes(Buffer.concat(contents)), id)
      }
    },
    /** The transaction is durable, so that the next one may continue its blocks. */
    committed: () => {
      for (const block of changed.values()) {
        open.delete(block.libraryId)
        open.set(block.libraryId, block)
      }
      for (const libraryId of [...open.keys()].slice(0, -MAX_OPEN)) open.delete(libraryId)
      changed.clear()
    },
  }
}

/** Reads contents that share a block. */
export function contentBlockReader(database: Database) {
  const placeOf = database.prepare<[number], BlockPlace & { sizeBytes: number }>(
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
    unpacked.delete(id)
    unpacked.set(id, bytes)
    for (const oldest of [...unpacked.keys()].slice(0, -MAX_UNPACKED)) unpacked.delete(oldest)
    return bytes
  }
  const readPlace = ({ blockId, blockStart, sizeBytes }: BlockPlace & { sizeBytes: number }): Buffer | undefined =>
    blockOf(blockId, blockStart + sizeBytes)?.subarray(blockStart, blockStart + sizeBytes)
  return {
    /** Undefined when the resource shares no block. Throws DamagedBytesError. */
    read: (resourceId: number): Buffer | undefined => {
      const place = placeOf.get(resourceId)
      return place && readPlace(place)
    },
    readPlace,
  }
}
