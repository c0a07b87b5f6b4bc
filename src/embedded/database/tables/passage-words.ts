import type { Database } from 'better-sqlite3'

/** The words under which one passage is found, parted by blanks, for each column of the search index. */
export interface PassageWords {
  readonly name: string
  readonly heading: string
  readonly body: string
  readonly forms: string
}

/** A passage as its row in the search index names it. */
export interface PassageKey {
  readonly resourceId: number
  readonly ordinal: number
}

// A resource has at most 250,000 passages.
const ORDINALS = 2 ** 18

function rowIdOf({ resourceId, ordinal }: PassageKey): number {
  return resourceId * ORDINALS + ordinal
}

export function passageKeyOf(rowId: number): PassageKey {
  return { resourceId: Math.floor(rowId / ORDINALS), ordinal: rowId % ORDINALS }
}

/** The word by which the index restricts a search to a library; no word of a text has this sign. */
export function libraryWord(libraryId: number): string {
  return `${libraryId}~library`
}

export type PassageWordsTable = ReturnType<typeof passageWordsTable>

/** The search index (FTS5, without the texts themselves). */
export function passageWordsTable(database: Database) {
  const insert = database.prepare<[number, string, string, string, string, string]>(
    'INSERT INTO passage_words (rowid, library, name, heading, body, forms) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const remove = database.prepare<[number]>('DELETE FROM passage_words WHERE rowid = ?')
  const removeRange = database.prepare<[number, number]>('DELETE FROM passage_words WHERE rowid BETWEEN ? AND ?')
  const removeOfLibrary = database.prepare<[number, number]>(
    `DELETE FROM passage_words WHERE rowid IN
     (SELECT resource_id * ? + ordinal FROM passage JOIN resource ON resource.id = resource_id WHERE library_id = ?)`,
  )
  return {
    insert(key: PassageKey, libraryId: number, { name, heading, body, forms }: PassageWords): void {
      insert.run(rowIdOf(key), libraryWord(libraryId), name, heading, body, forms)
    },
    remove: (key: PassageKey) => {
      remove.run(rowIdOf(key))
    },
    removeOfResource: (resourceId: number) => {
      removeRange.run(rowIdOf({ resourceId, ordinal: 0 }), rowIdOf({ resourceId: resourceId + 1, ordinal: 0 }) - 1)
    },
    /** Call it while the library's passages are still there. */
    removeOfLibrary: (libraryId: number) => {
      removeOfLibrary.run(ORDINALS, libraryId)
    },
  }
}
