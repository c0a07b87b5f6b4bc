import type { Database } from 'better-sqlite3'
import { z } from 'zod'

/** The unit that the numbers of a trace entry count. */
export const TRACE_UNITS = ['line', 'row', 'paragraph', 'page', 'slide', 'second'] as const
export type TraceUnit = (typeof TRACE_UNITS)[number]

/** More about a place in the source: the sheet of rows, or the part of a page, as fractions of its width and height. */
export const traceDetail = z.object({
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

const COLUMNS = 'ordinal, text, unit, first_unit AS firstUnit, last_unit AS lastUnit, detail'

export type PassagesTable = ReturnType<typeof passagesTable>

export function passagesTable(database: Database) {
  const insertText = database.prepare<[number, number, string, TraceUnit, number, number, string | null]>(
    'INSERT INTO passage (resource_id, ordinal, text, unit, first_unit, last_unit, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const insertWords = database.prepare<[number | bigint, string, string]>(
    'INSERT INTO passage_words (rowid, title, text) VALUES (?, ?, ?)',
  )
  const removeWords = database.prepare<[number]>(
    'DELETE FROM passage_words WHERE rowid IN (SELECT id FROM passage WHERE resource_id = ?)',
  )
  const removeText = database.prepare<[number]>('DELETE FROM passage WHERE resource_id = ?')
  const removeWordsOfLibrary = database.prepare<[number]>(
    `DELETE FROM passage_words WHERE rowid IN
     (SELECT passage.id FROM passage JOIN resource ON resource.id = resource_id WHERE library_id = ?)`,
  )
  const one = database.prepare<[number, number], StoredPassage>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND ordinal = ? AND text <> ''`,
  )
  const first = database.prepare<[number, number], StoredPassage>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND text <> '' ORDER BY ordinal LIMIT ?`,
  )
  return {
    /** The title is indexed with passage 0 only. */
    insert(resourceId: number, ordinal: number, title: string, passage: Passage): void {
      const { text, unit, firstUnit, lastUnit, detail } = passage
      const place = detail ? JSON.stringify(detail) : null
      const { lastInsertRowid } = insertText.run(resourceId, ordinal, text, unit, firstUnit, lastUnit, place)
      insertWords.run(lastInsertRowid, ordinal === 0 ? title : '', text)
    },
    removeOfResource(resourceId: number): void {
      removeWords.run(resourceId)
      removeText.run(resourceId)
    },
    /** Removes the indexed words only; the text is deleted with the library's resources. */
    removeWordsOfLibrary: (libraryId: number) => {
      removeWordsOfLibrary.run(libraryId)
    },
    one: (resourceId: number, ordinal: number) => one.get(resourceId, ordinal),
    first: (resourceId: number, count: number) => first.all(resourceId, count),
  }
}
