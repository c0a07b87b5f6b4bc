import { join } from 'node:path'
import { indexWords } from '../../../src/embedded/analysis/index-words.ts'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables, type Tables } from '../../../src/embedded/database/open-tables.ts'
import { newIdentifier } from '../../../src/embedded/identifiers.ts'
import { openSearchIndex, type SearchIndex, type SearchRequest } from '../../../src/embedded/search/search-index.ts'
import { makeDirectory } from '../temporary-library.ts'

export interface TestDocument {
  readonly name: string
  /** Its passages, in their order. */
  readonly text: string | readonly string[]
  /** Default 1. */
  readonly library?: number
}

/** A search index over these documents, without a service. */
export interface IndexedDocuments extends Disposable {
  search(query: string, more?: Partial<SearchRequest>): ReturnType<SearchIndex>
  /** The names of the documents found, the best first. */
  found(query: string, more?: Partial<SearchRequest>): (string | undefined)[]
  /** The excerpt of the best passage. */
  excerpt(query: string): string | undefined
}

export function indexDocuments(documents: readonly TestDocument[]): IndexedDocuments {
  const { directory, remove } = makeDirectory()
  const database = openLibraryDatabase(join(directory, 'library.sqlite'))
  const tables = openTables(database)
  const names = new Map<number, string>()
  database.transaction(() => {
    for (const number of new Set(documents.map(({ library = 1 }) => library))) addLibrary(tables, number)
    for (const document of documents) names.set(addDocument(tables, document, names.size), document.name)
  })()
  const searchIndex = openSearchIndex(database)
  const search = (query: string, more: Partial<SearchRequest> = {}) =>
    searchIndex({ query, limit: 10, passages: 1, ...more })
  return {
    search,
    found: (query, more) => search(query, more).hits.map(({ resourceId }) => names.get(resourceId)),
    excerpt: (query) => search(query).hits[0]?.passages[0]?.excerpt,
    [Symbol.dispose]: () => {
      database.close()
      remove()
    },
  }
}

function addLibrary(tables: Tables, number: number): void {
  const id = tables.libraries.insert({ publicId: `l${number}`, name: `l${number}`, overview: null, createdAtMs: 0 })
  if (id !== number) throw new Error('Number the libraries of a test from 1 on')
}

function addDocument(tables: Tables, { name, text, library = 1 }: TestDocument, index: number): number {
  const sha256 = Buffer.from(String(index).padStart(32))
  const head = { libraryId: library, mimeType: 'text/plain', sizeBytes: 0, title: name, createdAtMs: 0 }
  const resourceId = tables.resources.insert({ publicId: newIdentifier(index), sha256, ...head })
  for (const [ordinal, passage] of [text].flat().entries()) {
    const place = { unit: 'line', firstUnit: 1, lastUnit: 1 } as const
    const id = tables.passages.insert(resourceId, ordinal, { text: passage, ...place })
    const words = indexWords(ordinal === 0 ? name : '', passage, ordinal === 0)
    tables.passageWords.insert(id, library, words)
  }
  return resourceId
}
