import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { DamagedBytesError, packBytes, unpackBytes } from '../../contents/packed-bytes.ts'
import { contentReader, type ReadContent } from '../read-contents.ts'
import { smallContentsTable } from './small-contents.ts'

/** The unit that the numbers of a trace entry count. */
export const TRACE_UNITS = ['line', 'row', 'paragraph', 'page', 'slide', 'second'] as const
export type TraceUnit = (typeof TRACE_UNITS)[number]

/**
 * More about a place in the source: the attachment of a message and the sheet of rows that it counts in, or the part of a page, as
 * fractions of its width and height.
 */
export const traceDetail = z.object({
  attachment: z.string().optional(),
  sheet: z.string().optional(),
  region: z.object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() }).optional(),
})
export type TraceDetail = z.infer<typeof traceDetail>

/** A piece of a resource's text with its place in the source, both ends included, counted from 1. */
export interface Passage {
  readonly text: string
  readonly unit: TraceUnit
  readonly firstUnit: number
  readonly lastUnit: number
  readonly detail?: TraceDetail | undefined
}

export interface StoredPassage extends Omit<Passage, 'detail'> {
  readonly ordinal: number
  /** TraceDetail as JSON. */
  readonly detail: string | null
}

export interface PassageToIndex {
  readonly id: number
  readonly resourceId: number
  readonly ordinal: number
  readonly libraryId: number
  readonly title: string
  readonly text: string
  /** An earlier version stored its text as it was. */
  readonly isUnpacked: boolean
}

/** Where a passage stands in the bytes of its resource's content. */
export interface ContentPlace {
  readonly offset: number
  readonly length: number
}

/** Where the text of a passage is: `text` only in what an earlier version stored. */
interface TextColumns {
  readonly id: number
  readonly resourceId: number
  readonly text: string
  readonly contentOffset: number | null
  readonly contentLength: number | null
}

const TEXT = `passage.id, passage.resource_id AS resourceId, text,
  content_offset AS contentOffset, content_length AS contentLength`
const COLUMNS = `ordinal, ${TEXT}, unit, first_unit AS firstUnit, last_unit AS lastUnit, detail`
const HAS_TEXT = `(text <> '' OR content_length > 0 OR EXISTS (SELECT 1 FROM passage_text WHERE passage_id = passage.id))`

export type PassagesTable = ReturnType<typeof passagesTable>

export function passagesTable(database: Database, readContent: ReadContent) {
  const insertPassage = database.prepare<
    [number, number, TraceUnit, number, number, string | null, number | null, number | null]
  >(
    `INSERT INTO passage (resource_id, ordinal, text, unit, first_unit, last_unit, detail, content_offset, content_length)
     VALUES (?, ?, '', ?, ?, ?, ?, ?, ?)`,
  )
  const insertText = database.prepare<[number, number, Buffer]>(
    'INSERT INTO passage_text (passage_id, size_bytes, bytes) VALUES (?, ?, ?)',
  )
  const emptyText = database.prepare<[number]>("UPDATE passage SET text = '' WHERE id = ?")
  const remove = database.prepare<[number]>('DELETE FROM passage WHERE resource_id = ?')
  const toIndex = database.prepare<[number, number, number], TextColumns & Omit<PassageToIndex, 'text'>>(
    `SELECT ordinal, library_id AS libraryId, title, ${TEXT} FROM passage JOIN resource ON resource.id = resource_id
     WHERE passage.id > ? AND passage.id <= ? ORDER BY passage.id LIMIT ?`,
  )
  const isOf = database.prepare<[number, number]>('SELECT 1 FROM passage WHERE id = ? AND resource_id = ?')
  const textOf = openTexts(database, readContent)
  const addText = (id: number, text: string) => {
    const bytes = Buffer.from(text)
    insertText.run(id, bytes.length, packBytes(bytes))
  }
  return {
    ...passageReader(database, readContent),
    /** Returns its id. With a place, the text is not stored a second time. */
    insert(resourceId: number, ordinal: number, passage: Passage, place?: ContentPlace): number {
      const { text, unit, firstUnit, lastUnit, detail } = passage
      const more = detail ? JSON.stringify(detail) : null
      const [offset, length] = [place?.offset ?? null, place?.length ?? null]
      const added = insertPassage.run(resourceId, ordinal, unit, firstUnit, lastUnit, more, offset, length)
      const id = Number(added.lastInsertRowid)
      if (!place && text !== '') addText(id, text)
      return id
    },
    removeOfResource: (resourceId: number) => {
      remove.run(resourceId)
    },
    /** Up to `count` passages with an id above `afterId` and up to `lastId`, for an index that is rebuilt. */
    toIndex: (afterId: number, lastId: number, count: number): PassageToIndex[] =>
      toIndex.all(afterId, lastId, count).map((row) => ({ ...row, text: textOf(row), isUnpacked: row.text !== '' })),
    /** Compresses the text of a passage that an earlier version stored as it was. */
    pack: ({ id, text }: PassageToIndex) => {
      addText(id, text)
      emptyText.run(id)
    },
    /** False when it was deleted; its id may be another's then. */
    isOf: (id: number, resourceId: number) => isOf.get(id, resourceId) !== undefined,
  }
}

/** The queries that only read passages that have a text. */
export function passageReader(database: Database, readContent = contentReader(database, smallContentsTable(database))) {
  const one = database.prepare<[number, number], TextColumns & StoredPassage>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND ordinal = ? AND ${HAS_TEXT}`,
  )
  const from = database.prepare<[number, number, number], TextColumns & StoredPassage>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND ordinal >= ? AND ${HAS_TEXT} ORDER BY ordinal LIMIT ?`,
  )
  const textOf = openTexts(database, readContent)
  const withText = (row: TextColumns & StoredPassage): StoredPassage => ({ ...row, text: textOf(row) })
  return {
    one: (resourceId: number, ordinal: number): StoredPassage | undefined => {
      const row = one.get(resourceId, ordinal)
      return row && withText(row)
    },
    from: (resourceId: number, ordinal: number, count: number): StoredPassage[] =>
      from.all(resourceId, ordinal, count).map(withText),
  }
}

/**
 * Reads the text of a passage from where it is. The text is empty when its content is gone or damaged: that fails the download of the
 * text and `serve check`, but no answer or stage that concerns other documents as well.
 */
function openTexts(database: Database, readContent: ReadContent): (passage: TextColumns) => string {
  const stored = database.prepare<[number], { sizeBytes: number; bytes: Buffer }>(
    'SELECT size_bytes AS sizeBytes, bytes FROM passage_text WHERE passage_id = ?',
  )
  return ({ id, resourceId, text, contentOffset, contentLength }) => {
    try {
      if (contentOffset !== null && contentLength !== null) {
        return readContent(resourceId, contentOffset, contentLength)?.toString() ?? ''
      }
      const found = stored.get(id)
      return found ? unpackBytes(found.bytes, found.sizeBytes).toString() : text
    } catch (error) {
      if (error instanceof DamagedBytesError) return ''
      throw error
    }
  }
}
