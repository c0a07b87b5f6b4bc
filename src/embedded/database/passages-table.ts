import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import type { IndexWords } from '../analysis/index-words.ts'
import { DamagedBytesError, packBytes, unpackBytes } from '../contents/packed-bytes.ts'
import { contentReader, type ReadContent } from './read-contents.ts'
import { smallContentsTable } from './small-contents-table.ts'

/** The units in which a trace entry counts positions in the source. */
export const TRACE_UNITS = ['line', 'row', 'paragraph', 'page', 'slide', 'second'] as const
export type TraceUnit = (typeof TRACE_UNITS)[number]

/**
 * Further details of a position in the source: the subject of the message in a mailbox, the name of the attachment or sheet, and the
 * part of a page as fractions of its width and height.
 */
export const traceDetail = z.object({
  message: z.string().optional(),
  attachment: z.string().optional(),
  sheet: z.string().optional(),
  region: z.object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() }).optional(),
})
export type TraceDetail = z.infer<typeof traceDetail>

/** A piece of a resource's text with its first and last unit in the source, counted from 1. */
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

/** The bytes of a resource's content that are the text of a passage. */
export interface ContentPlace {
  readonly offset: number
  readonly length: number
}

/** The columns by which the text of a passage is found. */
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
    /** Inserts a passage and returns its row id. With `place`, the text is not stored a second time. */
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

/** Prepares the queries that read passages; passages without text are skipped. */
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
 * Returns a function that reads the text of a passage from the content of its resource or from `passage_text`. If these bytes are missing
 * or damaged, it returns an empty text, so that searches and other work on several documents do not fail because of one.
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

/** Returns the word by which a search is restricted to a library; no word of a text begins with `~`. */
export function libraryWord(libraryId: number): string {
  return `~library~${libraryId}`
}

export type TitleColumn = 'name' | 'heading'

/** Returns words of names or headings in the form in which the first column of the index repeats them. */
export function titleWords(column: TitleColumn, words: string): string {
  return words.replace(/[^ ]+/g, `~${column}~$&`)
}

/** Prepares the statements that change the search index (FTS5, without the texts themselves). Its row ids are those of the passages. */
export function passageWordsTable(database: Database) {
  const insert = database.prepare<[number, string, string, string]>(
    'INSERT INTO passage_words (rowid, body, heading, name) VALUES (?, ?, ?, ?)',
  )
  const ofPassage = database.prepare<[number]>('DELETE FROM passage_words WHERE rowid = ?')
  const ofResource = database.prepare<[number]>(
    'DELETE FROM passage_words WHERE rowid IN (SELECT id FROM passage WHERE resource_id = ?)',
  )
  return {
    insert(passageId: number, libraryId: number, { name, heading, body, forms }: IndexWords): void {
      const titles = `${titleWords('name', name)} ${titleWords('heading', heading)}`
      insert.run(passageId, `${titles} ${forms} ${libraryWord(libraryId)} ${body}`, heading, name)
    },
    remove: (passageId: number) => {
      ofPassage.run(passageId)
    },
    /** Call it before the passages are removed. */
    removeOfResource: (resourceId: number) => {
      ofResource.run(resourceId)
    },
  }
}
