import { basename, dirname, join } from 'node:path/posix'
import type { z } from 'zod'
import { resourceRecord, searchResponse } from '../../../src/contract/records.ts'
import { pluck, type ServiceClient } from '../../contract/service-client.ts'
import type { MadeDocument } from './make-documents.ts'
import { readIndependently } from './read-words.ts'

/** The outcome of a document. */
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
  return searchResponse.parse(answer.json).results.map(({ resource }) => resource.id)
}

/** Whole words: a part of one is no word that a search finds. */
const WORD = /(?<![\p{L}\p{M}\p{N}_])[\p{L}\p{M}]{4,20}(?![\p{L}\p{M}\p{N}_])/gu
const WITHOUT_BLANKS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Myanmar}\p{Script=Khmer}\p{Script=Lao}]{2,}/gu
const QUERY_WORDS = 3

/** The words of a text, each with how often it stands there. */
function wordsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (word: string) => counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [run] of text.normalize('NFC').matchAll(WITHOUT_BLANKS)) add(run.slice(0, 4))
  for (const [word] of text.normalize('NFC').replace(WITHOUT_BLANKS, ' ').matchAll(WORD)) add(word)
  return counts
}

/** In how many texts each word stands. */
function spreadOf(all: Iterable<ReadonlyMap<string, number>>): Map<string, number> {
  const spread = new Map<string, number>()
  for (const words of all) for (const word of words.keys()) spread.set(word, (spread.get(word) ?? 0) + 1)
  return spread
}

/** The three words of a text that the fewest texts have; a word that stands there twice is no slip of a reader. */
function chooseWords(own: ReadonlyMap<string, number>, spread: ReadonlyMap<string, number>): string[] {
  const repeated = [...own.keys()].filter((word) => (own.get(word) ?? 0) > 1)
  const candidates = repeated.length >= QUERY_WORDS ? repeated : [...own.keys()]
  return candidates.sort((a, b) => (spread.get(a) ?? 0) - (spread.get(b) ?? 0)).slice(0, QUERY_WORDS)
}
