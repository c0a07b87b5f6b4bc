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

export interface PassageToIndex {
  readonly id: number
  readonly resourceId: number
  readonly ordinal: number
  readonly libraryId: number
  readonly title: string
  readonly text: string
}

const COLUMNS = 'ordinal, text, unit, first_unit AS firstUnit, last_unit AS lastUnit, detail'

export type PassagesTable = ReturnType<typeof passagesTable>

export function passagesTable(database: Database) {
  const insertText = database.prepare<[number, number, string, TraceUnit, number, number, string | null]>(
    'INSERT INTO passage (resource_id, ordinal, text, unit, first_unit, last_unit, detail) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const removeText = database.prepare<[number]>('DELETE FROM passage WHERE resource_id = ?')
  const one = database.prepare<[number, number], StoredPassage>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND ordinal = ? AND text <> ''`,
  )
  const first = database.prepare<[number, number], StoredPassage>(
    `SELECT ${COLUMNS} FROM passage WHERE resource_id = ? AND text <> '' ORDER BY ordinal LIMIT ?`,
  )
  const toIndex = database.prepare<[number, number, number], PassageToIndex>(
    `SELECT passage.id, resource_id AS resourceId, ordinal, library_id AS libraryId, title, text
     FROM passage JOIN resource ON resource.id = resource_id WHERE passage.id > ? AND passage.id <= ? ORDER BY passage.id LIMIT ?`,
  )
  const exists = database.prepare<[number]>('SELECT 1 FROM passage WHERE id = ?')
  return {
    insert(resourceId: number, ordinal: number, { text, unit, firstUnit, lastUnit, detail }: Passage): void {
      const place = detail ? JSON.stringify(detail) : null
      insertText.run(resourceId, ordinal, text, unit, firstUnit, lastUnit, place)
    },
    removeOfResource: (resourceId: number) => {
      removeText.run(resourceId)
    },
    one: (resourceId: number, ordinal: number) => one.get(resourceId, ordinal),
    first: (resourceId: number, count: number) => first.all(resourceId, count),
    /** Up to `count` passages with an id above `afterId` and up to `lastId`, for an index that is made anew. */
    toIndex: (afterId: number, lastId: number, count: number) => toIndex.all(afterId, lastId, count),
    exists: (id: number) => exists.get(id) !== undefined,
  }
}
