import type { Database } from 'better-sqlite3'
import { contentReader, type ReadContent } from './read-contents.ts'
import { type ChunkVectorsTable, chunkVectorsTable } from './tables/chunk-vectors.ts'
import { type ContentBlocksTable, contentBlocksTable } from './tables/content-blocks.ts'
import { type DeletedLibrariesTable, deletedLibrariesTable } from './tables/deleted-libraries.ts'
import { type DirectoriesTable, directoriesTable } from './tables/directories.ts'
import { type LibrariesTable, librariesTable } from './tables/libraries.ts'
import { type LocationsTable, locationsTable } from './tables/locations.ts'
import { type PassageWordsTable, passageWordsTable } from './tables/passage-words.ts'
import { type PassagesTable, passagesTable } from './tables/passages.ts'
import { type ResourcesTable, resourcesTable } from './tables/resources.ts'
import { type Settings, settingsTable } from './tables/settings.ts'
import { type SmallContentsTable, smallContentsTable } from './tables/small-contents.ts'
import { type TokensTable, tokensTable } from './tables/tokens.ts'

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
