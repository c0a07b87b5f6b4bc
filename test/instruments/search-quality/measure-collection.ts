import { print } from '../instrument.ts'
import { askBm25 } from './bm25.ts'
import { type Collection, type JudgedQuery, readCollection } from './collections.ts'
import { askFts5 } from './fts5.ts'
import { askLibrary, type Strategy } from './measure.ts'

const GAIN_DEPTH = 10
const RECALL_DEPTH = 100
/** Mean average precision is judged on so many results. */
const DEPTH = 1_000
const PASSAGE_LENGTH = 2_000
/** A search of the library takes no longer query, so none of the others gets more. */
const MAX_QUERY = 1_000
const RESAMPLES = 4_000

/** What a query's answer is worth, by each measure. */
type Worth = Readonly<Record<keyof typeof MEASURES, number>>

const MEASURES = { 'nDCG@10': gainOf, MAP: averagePrecisionOf, 'recall@100': recallOf, 'MRR@10': reciprocalRankOf }
const NAMES = Object.keys(MEASURES) as (keyof typeof MEASURES)[]

/** Prints how well the library answers the queries of a public collection by each strategy, beside FTS5 and BM25. */
export async function measureCollection(
  file: string,
  strategies: readonly Strategy[],
  vectorsFile: string,
): Promise<void> {
  const { name, language, documents, queries }: Collection = readCollection(file)
  const texts = queries.map(({ query }) => query.slice(0, MAX_QUERY))
  const answers = [
    ...(await askLibrary(documents, texts, strategies, { depth: DEPTH, vectorsFile })),
    ['FTS5 over documents', askFts5(documents, texts, DEPTH)],
    ['FTS5 over passages', askFts5(documents, texts, DEPTH, PASSAGE_LENGTH)],
    ['BM25 of stems', askBm25(documents, texts, DEPTH, language)],
  ] as const
  const measured = answers.map(
    ([engine, found]) => [engine, queries.map((query, index) => worthOf(query, found[index] ?? []))] as const,
  )
  print(`\n${name}: ${documents.length} documents, ${queries.length} queries`)
  print(['engine'.padEnd(22), ...NAMES.map((each) => each.padStart(11))].join(''))
  for (const [engine, worths] of measured) {
    const means = NAMES.map((each) =>
      mean(worths.map((worth) => worth[each]))
        .toFixed(3)
        .padStart(11),
    )
    print([engine.padEnd(22), ...means].join(''))
  }
  for (const [engine, worths] of measured.slice(0, strategies.length)) {
    for (const [other, others] of measured.filter((_, index) => measured[index]?.[0] !== engine)) {
      const differences = worths.map((worth, index) => worth['nDCG@10'] - (others[index]?.['nDCG@10'] ?? 0))
      const [least, most] = intervalOf(differences).map(signed)
      print(`${engine} − ${other}: nDCG@10 ${signed(mean(differences))}, 95 of 100 resamples from ${least} to ${most}`)
    }
  }
}

function worthOf(query: JudgedQuery, found: readonly string[]): Worth {
  const gains = found.map((path) => query.grades.get(path) ?? 0)
  return Object.fromEntries(NAMES.map((each) => [each, MEASURES[each](gains, [...query.grades.values()])])) as Worth
}

function gainOf(found: readonly number[], all: readonly number[]): number {
  const best = all.toSorted((one, other) => other - one)
  return discounted(found) / discounted(best)
}

function discounted(grades: readonly number[]): number {
  return grades.slice(0, GAIN_DEPTH).reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0)
}

function averagePrecisionOf(found: readonly number[], all: readonly number[]): number {
  const places = found.flatMap((grade, index) => (grade > 0 ? [index + 1] : []))
  return places.reduce((sum, place, index) => sum + (index + 1) / place, 0) / all.length
}

function recallOf(found: readonly number[], all: readonly number[]): number {
  return found.slice(0, RECALL_DEPTH).filter((grade) => grade > 0).length / all.length
}

function reciprocalRankOf(found: readonly number[]): number {
  const place = found.slice(0, GAIN_DEPTH).findIndex((grade) => grade > 0)
  return place < 0 ? 0 : 1 / (place + 1)
}

/** Between which values the mean of resampled queries is in 95 of 100 cases; the same in each run. */
function intervalOf(values: readonly number[]): [number, number] {
  const random = randomNumbers()
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(values.map(() => values[Math.floor(random() * values.length)] ?? 0)),
  ).toSorted((one, other) => one - other)
  return [means[Math.floor(0.025 * RESAMPLES)] ?? 0, means[Math.floor(0.975 * RESAMPLES)] ?? 0]
}

/** The generator mulberry32 from a fixed seed. */
function randomNumbers(): () => number {
  let state = 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length)
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`
}
