import { basename, dirname, join } from 'node:path/posix'
import type { z } from 'zod'
import { resourceRecord, searchAnswer } from '../../../src/contract/records.ts'
import { pluck, type ServiceClient } from '../../contract/service-client.ts'
import { chooseWords, spreadOf, wordsOf } from './choose-words.ts'
import type { MadeDocument } from './make-documents.ts'
import { readIndependently } from './read-words.ts'

/** What became of a document. */
export interface Examined extends MadeDocument {
  readonly state: string
  /** False where the library has no text of it; undefined unless it is searchable. */
  readonly textExtracted: boolean | undefined
  readonly reason: string
  /** Chosen from what another program reads, or else from the library's own text; empty where neither has any. */
  readonly words: readonly string[]
  readonly isIndependent: boolean
  readonly isFound: boolean
}

/** A document with its record in the library and the words in it. */
interface ReadDocument {
  readonly document: MadeDocument
  readonly id: string
  readonly record: z.infer<typeof resourceRecord>
  readonly isIndependent: boolean
  readonly words: ReadonlyMap<string, number>
}

/** What a search gives at most: some documents have only words that many have. */
const DEPTH = 100

/** Asks the library for each document, and searches for words in it. `root` is the directory of the library that mirrors the folder. */
export async function examineDocuments(
  client: ServiceClient,
  documents: readonly MadeDocument[],
  { library, root, folder }: { readonly library: string; readonly root: string; readonly folder: string },
): Promise<Examined[]> {
  const ids = await listResources(client, library, root, documents)
  const readByOthers = ({ path, kind }: MadeDocument) => readIndependently(join(folder, path), kind)
  const read: ReadDocument[] = []
  for (const document of documents) {
    const id = ids.get(document.path) ?? ''
    const { json } = await client.get(`/libraries/${library}/resources/${id}?asset_text=whole`)
    const record = resourceRecord.parse(json)
    const text = document.text ?? (document.ends === 'searchable' ? readByOthers(document) : undefined)
    const own = pluck(record.assets, 'text').join('\n')
    read.push({ document, id, record, isIndependent: text !== undefined, words: wordsOf(text ?? own) })
  }
  const spread = spreadOf(read.map(({ words }) => words))
  const examined: Examined[] = []
  for (const { document, id, record, isIndependent, words: all } of read) {
    const words = chooseWords(all, spread)
    examined.push({
      ...document,
      state: String(record.ingestion_status),
      textExtracted: record.text_extracted,
      reason: record.ingestion_error ?? record.ingestion_warnings?.join('; ') ?? '',
      words,
      isIndependent,
      isFound: words.length > 0 && (await search(client, words)).includes(id),
    })
  }
  return examined
}

async function listResources(
  client: ServiceClient,
  library: string,
  root: string,
  documents: readonly MadeDocument[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const directory of new Set(documents.map(({ path }) => dirname(path)))) {
    const { json } = await client.listing(library, { path: `${root}/${directory}`, limit: '500' })
    const files = Array.isArray(json.files) ? json.files : []
    for (const { id, title } of files) ids.set(join(directory, basename(String(title))), String(id))
  }
  return ids
}

async function search(client: ServiceClient, words: readonly string[]): Promise<string[]> {
  const query = new URLSearchParams({
    query: words.join(' '),
    strategy: 'lexical',
    limit: String(DEPTH),
    output_format: 'compact',
  })
  const answer = await client.get(`/search/resources?${query}`)
  return searchAnswer.parse(answer.json).results.map(({ resource }) => resource.id)
}
