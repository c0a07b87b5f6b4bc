import type Database from 'better-sqlite3'
import { MAX_SIMILAR_NAMES, nameKeys } from '../../rules/similar-names.ts'
import type { ContentKey } from './contents.ts'
import type { ListedEntry } from './report-queries.ts'

/** An entry of the library to which no content of the store refers. */
export type ForeignEntry = Pick<ListedEntry, 'resourceId' | 'title' | 'filename' | 'mime'>

/** Undefined unless a download showed them. */
export interface ResourceBytes {
  readonly sizeBytes: number | undefined
  readonly sha256: Uint8Array | undefined
}

const PAGE = 1_000

export function prepareForeign(database: Database.Database) {
  return { ...prepareDue(database), ...prepareEntries(database) }
}

function prepareDue(database: Database.Database) {
  const demandAll = database.prepare<[]>('UPDATE mirror SET must_search = 1')
  const demand = database.prepare<[number, number]>('UPDATE mirror SET must_search = ? WHERE id = ?')
  const isDue = database.prepare<[number], number>('SELECT must_search FROM mirror WHERE id = ?').pluck()
  const anyDue = database.prepare<[], number>('SELECT 1 FROM mirror WHERE must_search = 1 LIMIT 1').pluck()
  return {
    /** From now on every mirror must search for earlier uploads before it uploads. */
    requireSearches: () => void demandAll.run(),
    requireSearch: (mirrorId: number) => void demand.run(1, mirrorId),
    recordSearched: (mirrorId: number) => void demand.run(0, mirrorId),
    isSearchDue: (mirrorId: number): boolean => isDue.get(mirrorId) === 1,
    isAnySearchDue: (): boolean => anyDue.get() !== undefined,
  }
}

function prepareEntries(database: Database.Database) {
  const hasContent = `EXISTS (SELECT 1 FROM content c WHERE c.library_id = @libraryId AND c.resource_id = `
  const add = database.prepare<[Record<string, string | number>]>(
    `INSERT INTO foreign_entry (library_id, mime, name_key, resource_id, title, filename)
     SELECT @libraryId, @mime, @key, @resourceId, @title, @filename WHERE NOT ${hasContent} @resourceId) ON CONFLICT DO NOTHING`,
  )
  const any = database.prepare<[number], number>('SELECT 1 FROM foreign_entry WHERE library_id = ? LIMIT 1').pluck()
  const isCandidate = `library_id = @libraryId AND mime = @mime AND coalesce(size, @size) = @size
    AND coalesce(sha256, @sha256) = @sha256 AND NOT ${hasContent} s.resource_id)`
  const columns = 'resource_id AS resourceId, title, filename, mime'
  const ofName = database.prepare<[Record<string, string | number | Uint8Array>], ForeignEntry>(
    `SELECT ${columns} FROM foreign_entry s WHERE name_key = @key AND resource_id > @after AND ${isCandidate}
     ORDER BY resource_id LIMIT ${PAGE}`,
  )
  const isOfName = `EXISTS (SELECT 1 FROM foreign_entry n WHERE n.library_id = @libraryId AND n.mime = @mime
    AND n.name_key = @key AND n.resource_id = s.resource_id)`
  const likeName = (condition: string) =>
    `SELECT ${columns} FROM foreign_entry s WHERE ${condition} AND ${isCandidate} AND NOT ${isOfName}`
  const ofLikeName = database.prepare<[Record<string, string | number | Uint8Array>], ForeignEntry>(
    `${likeName('name_key IN (SELECT value FROM json_each(@beginnings))')}
     UNION ${likeName("@key <> '' AND name_key > @key AND name_key < @key || char(1114111)")} LIMIT ${MAX_SIMILAR_NAMES}`,
  )
  const setBytes = database.prepare<[number | null, Uint8Array | null, number, string]>(
    `UPDATE foreign_entry SET size = coalesce(?, size), sha256 = coalesce(?, sha256) WHERE library_id = ? AND resource_id = ?`,
  )
  const remove = database.prepare<[number, string]>(
    'DELETE FROM foreign_entry WHERE library_id = ? AND resource_id = ?',
  )
  return {
    hasAny: (libraryId: number): boolean => any.get(libraryId) !== undefined,
    /** Adds a row for each name key of an entry. */
    add: (entries: readonly ListedEntry[]): void => {
      for (const { libraryId, resourceId, title, filename, mime } of entries)
        for (const key of nameKeys({ title, filename })) add.run({ libraryId, mime, key, resourceId, title, filename })
    },
    /** Lists entries with the content's MIME type and name key, except those with other bytes. */
    ofName: function* ({ libraryId, mime, size, sha256 }: ContentKey, key: string): Generator<ForeignEntry> {
      let after: string | undefined = ''
      while (after !== undefined) {
        const page: ForeignEntry[] = ofName.all({ libraryId, mime, size, sha256, key, after })
        yield* page
        after = page.at(-1)?.resourceId
      }
    },
    /** Lists entries whose name key is a prefix of `key`, or begins with it. */
    listSimilarNames: ({ libraryId, mime, size, sha256 }: ContentKey, key: string): ForeignEntry[] => {
      const beginnings = JSON.stringify([...key].map((_, at, letters) => letters.slice(0, at).join('')).slice(1))
      return ofLikeName.all({ libraryId, mime, size, sha256, key, beginnings })
    },
    recordBytes: (libraryId: number, resourceId: string, { sizeBytes, sha256 }: ResourceBytes) =>
      void setBytes.run(sizeBytes ?? null, sha256 ?? null, libraryId, resourceId),
    /** Call it for an entry that has a receipt now, or can't be compared. */
    remove: (libraryId: number, resourceId: string) => void remove.run(libraryId, resourceId),
  }
}
