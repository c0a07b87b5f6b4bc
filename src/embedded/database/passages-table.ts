import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { DamagedBytesError, packBytes, unpackBytes } from '../contents/packed-bytes.ts'
import { contentReader, type ReadContent } from './read-contents.ts'
import { smallContentsTable } from './small-contents-table.ts'

/** The unit that the numbers of a trace entry count. */
export const TRACE_UNITS = ['line', 'row', 'paragraph', 'page', 'slide', 'second'] as const
export type TraceUnit = (typeof TRACE_UNITS)[number]

/**
 * More about a place in the source: the message of a mailbox (its subject), the attachment of a message and the sheet of rows that it
 * counts in, or the part of a page, as fractions of its width and height.
 */
export const traceDetail = z.object({
  message: z.string().optional(),
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

/** The place of a passage in the bytes of its resource's content. */
export interface ContentPlace {
  readonly offset: number
  readonly length: number
}

/** The columns that say where the text of a passage is. */
interface TextColumns {
  readonly id: number
  readonly resourceId: number
  readonly contentOffset: number | null
  readonly contentLength: number | null
}

const COLUMNS = `id, resource_id AS resourceId, ordinal, coalesce(unit, 'line') AS unit, first_unit AS firstUnit,
  last_unit AS lastUnit, detail, content_offset AS contentOffset, content_length AS contentLength`
const HAS_TEXT = '(content_length > 0 OR EXISTS (SELECT 1 FROM passage_text WHERE passage_id = passage.id))'

export function passagesTable(database: Database, readContent: ReadContent) {
  const insertPassage = database.prepare<
    [number, number, TraceUnit, number, number, string | null, number | null, number | null]
  >(
    `INSERT INTO passage (resource_id, ordinal, unit, first_unit, last_unit, detail, content_offset, content_length)
     VALUES (?, ?, nullif(?, 'line'), ?, ?, ?, ?, ?)`,
  )
  const insertText = database.prepare<[number, number, Buffer]>(
    'INSERT INTO passage_text (passage_id, size_bytes, bytes) VALUES (?, ?, ?)',
  )
  const remove = database.prepare<[number]>('DELETE FROM passage WHERE resource_id = ?')
  return {
    ...passageReader(database, readContent),
    /** Returns its id. With a place, the text is not stored a second time. */
    insert(resourceId: number, ordinal: number, passage: Passage, place?: ContentPlace): number {
      const { text, unit, firstUnit, lastUnit, detail } = passage
      const more = detail ? JSON.stringify(detail) : null
      const [offset, length] = [place?.offset ?? null, place?.length ?? null]
      const added = insertPassage.run(resourceId, ordinal, unit, firstUnit, lastUnit, more, offset, length)
      const id = Number(added.lastInsertRowid)
      if (place || text === '') return id
      const bytes = Buffer.from(text)
      insertText.run(id, bytes.length, packBytes(bytes))
      return id
    },
    removeOfResource: (resourceId: number) => {
      remove.run(resourceId)
    },
  }
}

/** The queries that only read passages that have a text. */
export function passageReader(database: Database, readContent = contentReader(database, smallContentsTable(database))) {
  const one = database.prepare<[number, number], TextColumns & Omit<StoredPassage, 'text'>>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND ordinal = ? AND ${HAS_TEXT}`,
  )
  const from = database.prepare<[number, number, number], TextColumns & Omit<StoredPassage, 'text'>>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND ordinal >= ? AND ${HAS_TEXT} ORDER BY ordinal LIMIT ?`,
  )
  const textOf = openTexts(database, readContent)
  const withText = (row: TextColumns & Omit<StoredPassage, 'text'>): StoredPassage => ({ ...row, text: textOf(row) })
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
  return ({ id, resourceId, contentOffset, contentLength }) => {
    try {
      if (contentOffset !== null && contentLength !== null) {
        return readContent(resourceId, contentOffset, contentLength)?.toString() ?? ''
      }
      const found = stored.get(id)
      return found ? unpackBytes(found.bytes, found.sizeBytes).toString() : ''
    } catch (error) {
      if (error instanceof DamagedBytesError) return ''
      throw error
    }
  }
}

/** The words under which one passage is found, parted by blanks, for each column of the search index. */
interface PassageWords {
  readonly name: string
  readonly heading: string
  readonly body: string
  readonly forms: string
}

/** The word by which the index restricts a search to a library; no word of a text begins with this sign. */
export function libraryWord(libraryId: number): string {
  return `~library~${libraryId}`
}

export type TitleColumn = 'name' | 'heading'

/** Words, parted by blanks, as the index has those of names and headings in its first column. */
export function titleWords(column: TitleColumn, words: string): string {
  return words.replace(/[^ ]+/g, `~${column}~$&`)
}

/** The search index (FTS5, without the texts themselves), by the ids of the passages. */
export function passageWordsTable(database: Database) {
  const insert = database.prepare<[number, string, string, string]>(
    'INSERT INTO passage_words (rowid, body, heading, name) VALUES (?, ?, ?, ?)',
  )
  const ofPassage = database.prepare<[number]>('DELETE FROM passage_words WHERE rowid = ?')
  const ofResource = database.prepare<[number]>(
    'DELETE FROM passage_words WHERE rowid IN (SELECT id FROM passage WHERE resource_id = ?)',
  )
  return {
    insert(passageId: number, libraryId: number, { name, heading, body, forms }: PassageWords): void {
      const titles = `${titleWords('name', name)} ${titleWords('heading', heading)}`
      insert.run(passageId, `${titles} ${forms} ${libraryWord(libraryId)} ${body}`, heading, name)
    },
    remove: (passageId: number) => {
      ofPassage.run(passageId)
    },
    /** Call it while the passages are still there. */
    removeOfResource: (resourceId: number) => {
      ofResource.run(resourceId)
    },
  }
}
