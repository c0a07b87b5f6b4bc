import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { searchResponse } from '../../../src/contract/records.ts'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { ServiceClient } from '../../contract/service-client.ts'
import type { CorpusDocument, LabelledQuery } from './corpus.ts'
import { embedCorpus } from './embed-corpus.ts'

export interface Answered extends LabelledQuery {
  /** The place of the first expected document, from 1; undefined when none is among the first ten. */
  readonly place: number | undefined
  /** The titles found, the first one first. */
  readonly titles: readonly string[]
}

/** As many results are judged. */
export const DEPTH = 10

export type Strategy = 'lexical' | 'balanced'

/**
 * Uploads the documents to an embedded library of its own and asks all queries by each strategy. Meaning is considered with the
 * offline embedder, which takes 80 ms of a core for 600 characters of English; `vectorsFile` keeps what it gave.
 */
export async function measure(
  documents: readonly CorpusDocument[],
  queries: readonly LabelledQuery[],
  strategies: readonly Strategy[],
  vectorsFile?: string,
): Promise<Map<Strategy, Answered[]>> {
  const texts = queries.map(({ query }) => query)
  const found = await askLibrary(documents, texts, strategies, { depth: DEPTH, vectorsFile })
  return new Map([...found].map(([strategy, lists]) => [strategy, answeredBy(queries, lists)]))
}

interface AskOptions {
  /** As many results are asked for. */
  readonly depth: number
  readonly vectorsFile?: string | undefined
}

/** Asks a library of these documents; returns the paths that each query finds, the best first. */
export async function askLibrary(
  documents: readonly CorpusDocument[],
  queries: readonly string[],
  strategies: readonly Strategy[],
  { depth, vectorsFile = ':memory:' }: AskOptions,
): Promise<Map<Strategy, string[][]>> {
  await using cleanup = new AsyncDisposableStack()
  const dataDir = mkdtempSync(join(tmpdir(), 'search-quality-'))
  cleanup.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const paths = await fillLibrary(dataDir, documents)
  const isSemantic = strategies.includes('balanced')
  if (isSemantic) await embedCorpus(dataDir, vectorsFile)
  const embedder = { kind: isSemantic ? 'offline' : 'none' } as const
  const library = cleanup.use(await startEmbeddedLibrary({ dataDir, embedder }))
  const client = new ServiceClient(library)
  const found = new Map<Strategy, string[][]>()
  for (const strategy of strategies) found.set(strategy, await askAll(client, queries, { strategy, depth, paths }))
  return found
}

/** What was found for each query, with the place of what was expected. */
export function answeredBy(queries: readonly LabelledQuery[], found: readonly (readonly string[])[]): Answered[] {
  return queries.map((labelled, index) => {
    const titles = found[index] ?? []
    return { ...labelled, place: placeOf(labelled, titles), titles }
  })
}

/** Returns the path of each document by the identifier of its resource. */
async function fillLibrary(dataDir: string, documents: readonly CorpusDocument[]): Promise<Map<string, string>> {
  await using library = await startEmbeddedLibrary({ dataDir })
  const client = new ServiceClient(library)
  const id = await client.createLibrary()
  const paths = new Map<string, string>()
  for (const { path, name, text } of documents) {
    const type = path.endsWith('.md') ? 'text/markdown' : 'text/plain'
    paths.set(await client.uploaded(id, { name, type, content: text }), path)
  }
  await library.settled()
  return paths
}

async function askAll(
  client: ServiceClient,
  queries: readonly string[],
  { strategy, depth, paths }: { strategy: Strategy; depth: number; paths: ReadonlyMap<string, string> },
): Promise<string[][]> {
  const found: string[][] = []
  for (const query of queries) {
    const parameters = new URLSearchParams({ query, strategy, limit: String(depth), output_format: 'compact' })
    const ask = () => client.get(`/search/resources?${parameters}`)
    const first = await ask()
    // On a busy machine a search can take too long, which says nothing about what it finds.
    const answer = first.status === 503 ? await ask() : first
    if (answer.status !== 200) throw new Error(`"${query}" was answered with ${answer.status}: ${answer.text}`)
    const { results } = searchResponse.parse(answer.json)
    found.push(results.map(({ resource }) => paths.get(resource.id) ?? ''))
  }
  return found
}

/** The normalized discounted cumulative gain of the first ten: 1 when all the documents that answer come first. */
export function gainOf({ expected, titles }: Pick<Answered, 'expected' | 'titles'>): number {
  const discount = (index: number) => 1 / Math.log2(index + 2)
  const sum = (count: number, counts: (index: number) => boolean) =>
    Array.from({ length: count }, (_, index) => (counts(index) ? discount(index) : 0)).reduce((a, b) => a + b, 0)
  const best = sum(Math.min(DEPTH, expected.length), () => true)
  return sum(DEPTH, (index) => expected.includes(titles[index] ?? '')) / best
}

/** The place of the first expected document among those found. */
function placeOf({ expected }: LabelledQuery, found: readonly string[]): number | undefined {
  return found.findIndex((path) => expected.includes(path)) + 1 || undefined
}

export interface Figures {
  readonly group: string
  readonly queries: number
  /** The share of queries with an expected document among the first ten. */
  readonly recall: number
  /** The mean of 1/place, 0 where it is not found. */
  readonly reciprocalRank: number
}

/** The figures of each group, of all word forms together, and of all queries. */
export function figuresOf(answered: readonly Answered[]): Figures[] {
  const groups: [string, Answered[]][] = [...Map.groupBy(answered, ({ group }) => group)]
  const forms = answered.filter(({ group }) => group.startsWith('forms-'))
  return [...groups, ['forms (all)', forms] as const, ['all', answered] as const].map(([group, list]) => ({
    group,
    queries: list.length,
    recall: list.filter(({ place }) => place !== undefined).length / list.length,
    reciprocalRank: list.map(({ place }) => (place ? 1 / place : 0)).reduce((sum, each) => sum + each, 0) / list.length,
  }))
}
