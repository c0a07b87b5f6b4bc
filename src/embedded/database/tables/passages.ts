import type { Database } from 'better-sqlite3'
import { z } from 'zod'

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
}

/** Where a passage stands in the bytes of its resource's small content. */
export interface ContentPlace {
  readonly offset: number
  readonly length: number
}

/** Needs the tables that FROM names. */
const TEXT = `CASE WHEN content_length IS NULL THEN text
  ELSE CAST(substr(bytes, content_offset + 1, content_length) AS TEXT) END AS text`
const FROM = 'FROM passage LEFT JOIN small_content ON small_content.resource_id = passage.resource_id'
const COLUMNS = `ordinal, ${TEXT}, unit, first_unit AS firstUnit, last_unit AS lastUnit, detail`
const HAS_TEXT = "(text <> '' OR content_length > 0)"

export type PassagesTable = ReturnType<typeof passagesTable>

export function passagesTable(database: Database) {
  const insertPassage = database.prepare<
    [number, number, string, TraceUnit, number, number, string | null, number | null, number | null]
  >(
    `INSERT INTO passage (resource_id, ordinal, text, unit, first_unit, last_unit, detail, content_offset, content_length)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const remove = database.prepare<[number]>('DELETE FROM passage WHERE resource_id = ?')
  const toIndex = database.prepare<[number, number, number], PassageToIndex>(
    `SELECT passage.id, passage.resource_id AS resourceId, ordinal, library_id AS libraryId, title, ${TEXT}
     ${FROM} JOIN resource ON resource.id = passage.resource_id
     WHERE passage.id > ? AND passage.id <= ? ORDER BY passage.id LIMIT ?`,
  )
  const exists = database.prepare<[number]>('SELECT 1 FROM passage WHERE id = ?')
  return {
    ...passageReader(database),
    /** With a place, the text is not stored a second time. */
    insert(resourceId: number, ordinal: number, passage: Passage, place?: ContentPlace): void {
      const { text, unit, firstUnit, lastUnit, detail } = passage
      const stored = place ? '' : text
      const more = detail ? JSON.stringify(detail) : null
      const [offset, length] = [place?.offset ?? null, place?.length ?? null]
      insertPassage.run(resourceId, ordinal, stored, unit, firstUnit, lastUnit, more, offset, length)
    },
    removeOfResource: (resourceId: number) => {
      remove.run(resourceId)
    },
    /** Up to `count` passages with an id above `afterId` and up to `lastId`, for an index that is rebuilt. */
    toIndex: (afterId: number, lastId: number, count: number) => toIndex.all(afterId, lastId, count),
    exists: (id: number) => exists.get(id) !== undefined,
  }
}

/** The queries that only read passages that have a text. */
export function passageReader(database: Database) {
  const one = database.prepare<[number, number], StoredPassage>(
    `SELECT ${COLUMNS} ${FROM} WHERE passage.resource_id = ? AND ordinal = ? AND ${HAS_TEXT}`,
  )
  const first = database.prepare<[number, number], StoredPassage>(
    `SELECT ${COLUMNS} ${FROM} WHERE passage.resource_id = ? AND ${HAS_TEXT} ORDER BY ordinal LIMIT ?`,
  )
  return {
    one: (resourceId: number, ordinal: number) => one.get(resourceId, ordinal),
    first: (resourceId: number, count: number) => first.all(resourceId, count),
  }
}
