import type { Database } from 'better-sqlite3'
import { DatabaseFaultError } from '../../foundation/sqlite/open-database.ts'
import { chunkVectorsTable } from './chunk-vectors-table.ts'
import { directoriesTable } from './directories-table.ts'
import { deletedLibrariesTable, librariesTable } from './libraries-table.ts'
import { locationsTable } from './locations-table.ts'
import { passagesTable, passageWordsTable } from './passages-table.ts'
import { contentReader } from './read-contents.ts'
import { resourcesTable } from './resources-table.ts'
import { settingsTable } from './settings-table.ts'
import { contentBlocksTable, smallContentsTable } from './small-contents-table.ts'
import { tokensTable } from './tokens-table.ts'
import { versionsTable } from './versions-table.ts'

export type Tables = ReturnType<typeof openTables>

/** Prepares the queries of every table of the service. */
export function openTables(database: Database) {
  const contentBlocks = contentBlocksTable(database)
  const smallContents = smallContentsTable(database, contentBlocks)
  const readContent = contentReader(database, smallContents)
  return {
    readContent,
    settings: settingsTable(database),
    tokens: tokensTable(database),
    libraries: librariesTable(database),
    deletedLibraries: deletedLibrariesTable(database, contentBlocks),
    directories: directoriesTable(database),
    resources: resourcesTable(database),
    smallContents,
    contentBlocks,
    locations: locationsTable(database),
    versions: versionsTable(database),
    passages: passagesTable(database, readContent),
    passageWords: passageWordsTable(database),
    chunkVectors: chunkVectorsTable(database),
  }
}

/**
 * Finds damage that a check of the database's pages does not find. Compares each small content with its hash, and the search index with
 * its checksums. Throws DatabaseFaultError or SQLITE_CORRUPT.
 */
export function checkStoredData(database: Database, { smallContents }: Tables): void {
  const damaged = smallContents.findDamaged()
  if (damaged !== undefined) {
    const why = `the content of resource ${damaged} is not what was uploaded`
    throw new DatabaseFaultError('damaged', `"${database.name}" is damaged: ${why}`)
  }
  database.exec("INSERT INTO passage_words (passage_words) VALUES ('integrity-check')")
}
