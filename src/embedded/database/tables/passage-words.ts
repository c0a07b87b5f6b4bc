import type { Database } from 'better-sqlite3'

/** The words under which one passage is found, parted by blanks, for each column of the search index. */
export interface PassageWords {
  readonly name: string
  readonly heading: string
  readonly body: string
  readonly forms: string
}

/** The word by which the index restricts a search to a library; no word of a text has this sign. */
export function libraryWord(libraryId: number): string {
  return `${libraryId}~library`
}

export type PassageWordsTable = ReturnType<typeof passageWordsTable>

/** The search index (FTS5, without the texts themselves), by the ids of the passages. */
export function passageWordsTable(database: Database) {
  const insert = database.prepare<[number, string, string, string, string, string]>(
    'INSERT INTO passage_words (rowid, body, forms, heading, name, library) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const removeOfResource = database.prepare<[number]>(
    'DELETE FROM passage_words WHERE rowid IN (SELECT id FROM passage WHERE resource_id = ?)',
  )
  return {
    insert(passageId: number, libraryId: number, { name, heading, body, forms }: PassageWords): void {
      insert.run(passageId, body, forms, heading, name, libraryWord(libraryId))
    },
    /** Call it while the passages are still there. */
    removeOfResource: (resourceId: number) => {
      removeOfResource.run(resourceId)
    },
  }
}
