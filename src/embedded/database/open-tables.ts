import type { Database } from 'better-sqlite3'
import { DatabaseFaultError } from '../../foundation/sqlite/open-database.ts'
import { type ChunkVectorsTable, chunkVectorsTable } from './chunk-vectors.ts'
import { type DirectoriesTable, directoriesTable } from './directories.ts'
import { type DeletedLibrariesTable, deletedLibrariesTable, type LibrariesTable, librariesTable } from './libraries.ts'
import { type LocationsTable, locationsTable } from './locations.ts'
import { type PassagesTable, type PassageWordsTable, passagesTable, passageWordsTable } from './passages.ts'
import { contentReader, type ReadContent } from './read-contents.ts'
import { type ResourcesTable, resourcesTable } from './resources.ts'
import { type Settings, settingsTable } from './settings.ts'
import {
  type ContentBlocksTable,
  contentBlocksTable,
  type SmallContentsTable,
  smallContentsTable,
} from './small-contents.ts'
import { type TokensTable, tokensTable } from './tokens.ts'

/** The queries of every table of the service; each statement is prepared once. */
export interface Tables {
  readonly readContent: ReadContent
  readonly settings: Settings
  readonly tokens: TokensTable
  readonly libraries: LibrariesTable
  readonly deletedLibraries: DeletedLibrariesTable
  readonly directories: DirectoriesTable
  readonly resources: ResourcesTable
  readonly smallContents: SmallContentsTable
  readonly contentBlocks: ContentBlocksTable
  readonly locations: LocationsTable
  readonly passages: PassagesTable
  readonly passageWords: PassageWordsTable
  readonly chunkVectors: ChunkVectorsTable
}

export function openTables(database: Database): Tables {
  const contentBlocks = contentBlocksTable(database)
  const smallContents = smallContentsTable(database, contentBlocks)
  const readContent = contentReader(database, smallContents)
  return {
    readContent,
    settings: settingsTable(database),
    tokens: tokensTable(database),
    libraries: librariesTable(database),
    deletedLibraries: deletedLibrariesTable(database),
    directories: directoriesTable(database),
    resources: resourcesTable(database),
    smallContents,
    contentBlocks,
    locations: locationsTable(database),
    passages: passagesTable(database, readContent),
    passageWords: passageWordsTable(database),
    chunkVectors: chunkVectorsTable(database),
  }
}

/**
 * Checks what a check of the database's pages cannot see, such as an overflow page that was overwritten: the bytes of each small
 * content against their hash, and the search index against its own checksums. Throws DatabaseFaultError, or SQLITE_CORRUPT.
 */
export function checkStoredData(database: Database, { smallContents }: Tables): void {
  const damaged = smallContents.findDamaged()
  if (damaged !== undefined) {
    const why = `the content of resource ${damaged} is not what was uploaded`
    throw new DatabaseFaultError('damaged', `"${database.name}" is damaged: ${why}`)
  }
  database.exec("INSERT INTO passage_words (passage_words) VALUES ('integrity-check')")
}
