/** `npm run search-quality`: prints how well the embedded library finds the documents of two labelled sets. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { isXapianInstalled } from '../../support/xapian.ts'
import { flag, print, runInstrument } from '../instrument.ts'
import { type CorpusDocument, type LabelledQuery, readCorpus, readDeclaration, readQueries } from './corpus.ts'
import { readDebianCorpus } from './debian-corpus.ts'
import { askFts5 } from './fts5.ts'
import { type Answered, answeredBy, DEPTH, figuresOf, gainOf, measure, type Strategy } from './measure.ts'
import { measureCollection } from './measure-collection.ts'
import { measureXapian } from './measure-xapian.ts'

type Measured = readonly (readonly [name: string, answered: readonly Answered[]])[]

const OPTIONS = z.object({
  collection: z
    .array(z.string())
    .default([])
    .describe(
      'a public test collection in a file (see README) in place of the labelled sets; more than once for several',
    ),
  balanced: flag().describe('also the strategy that considers meaning (half an hour of a core the first time)'),
  vectors: z
    .string()
    .default(join(tmpdir(), 'shelfd-search-quality-vectors.sqlite'))
    .describe('keeps vectors from run to run'),
  misses: flag().describe('the queries whose document is not the first'),
  xapian: flag().describe('also Xapian, where its programs are installed'),
})
type Options = z.infer<typeof OPTIONS>

/** How the kinds of queries end that mechanisms are judged by, and of those that nobody tunes by. */
const FURTHER = ', further'
const HELD_OUT = ', held out'
const FILES = ['debian-queries.txt', 'debian-further.txt', 'debian-held-out.txt']

await runInstrument('search-quality', OPTIONS, async (values) => {
  for (const file of values.collection) await measureCollection(file, strategiesOf(values), values.vectors)
  if (values.collection.length > 0) return true
  await measureManuals(values)
  await measureForms(values)
  return true
})

function strategiesOf({ balanced }: Options): readonly Strategy[] {
  return balanced ? ['lexical', 'balanced'] : ['lexical']
}

/** Short documents in 23 languages: the share of queries that are answered, and the mean reciprocal rank. */
async function measureForms(values: Options): Promise<void> {
  const [documents, queries] = [readCorpus(), readQueries()]
  failForLost(documents, queries)
  const measured: Measured = [
    ...(await measure(documents, queries, strategiesOf(values), values.vectors)),
    ...(values.xapian && isXapianInstalled() ? [['Xapian', measureXapian(documents, queries)] as const] : []),
  ]
  if (values.xapian && !isXapianInstalled()) print('not installed: Xapian (xapian-omega)')
  for (const [name, answered] of measured) {
    print(`${documents.length} documents, ${queries.length} queries, ${name}`)
    for (const { group, queries: count, recall, reciprocalRank } of figuresOf(answered)) {
      const figures = [recall.toFixed(2).padStart(7), reciprocalRank.toFixed(2).padStart(7)]
      print([group.padEnd(12), String(count).padStart(4), ...figures].join(''))
    }
    if (values.misses) printMisses(name, answered)
  }
}

/** Long manuals beside short pages: nDCG of the first ten by kind, beside SQLite's FTS5 over documents and over passages. */
async function measureManuals(values: Options): Promise<void> {
  const { documents: pages, missing } = readDebianCorpus()
  if (missing.length > 0) {
    print(
      `Measured without the documents of ${missing.length} packages. To install them: apt-get install ${missing.join(' ')}`,
    )
  }
  const documents = [...pages, ...readDeclaration().filter(({ path }) => /\/(?:th|zh)\//.test(path))]
  const known = new Set(documents.map(({ path }) => path))
  const labelled = FILES.flatMap(readQueries)
  if (missing.length === 0) failForLost(documents, labelled)
  const queries = labelled.filter(({ expected }) => expected.some((path) => known.has(path)))
  const texts = queries.map(({ query }) => query)
  const measured: Measured = [
    ...(await measure(documents, queries, strategiesOf(values), values.vectors)),
    ['FTS5 over documents', answeredBy(queries, askFts5(documents, texts, DEPTH))],
    ['FTS5 over passages', answeredBy(queries, askFts5(documents, texts, DEPTH, 2_000))],
  ]
  const characters = documents.reduce((sum, { text }) => sum + text.length, 0)
  print(`${documents.length} documents, ${characters} characters, ${queries.length} queries: nDCG of the first ten`)
  print(['kind'.padEnd(26), 'queries', ...measured.map(([name]) => name.padStart(21))].join(''))
  for (const [kind, isOf] of kindsOf(queries)) {
    const gains = measured.map(([, answered]) => answered.filter(isOf).map(gainOf))
    const means = gains.map((each) => (each.reduce((sum, gain) => sum + gain, 0) / each.length).toFixed(3))
    print([kind.padEnd(26), String(gains[0]?.length).padStart(7), ...means.map((mean) => mean.padStart(21))].join(''))
  }
  for (const [name, answered] of values.misses ? measured : []) printMisses(name, answered)
}

/** Each kind, and questions and paraphrases together: those that the ranking was tuned by, further ones, and those held out. */
function kindsOf(queries: readonly LabelledQuery[]): (readonly [string, (labelled: LabelledQuery) => boolean])[] {
  const kinds = [...new Set(queries.map(({ group }) => group))]
  const isHeldOut = ({ group }: LabelledQuery) => group.endsWith(HELD_OUT)
  return [
    ...kinds.map((kind) => [kind, ({ group }: LabelledQuery) => group === kind] as const),
    ['question and paraphrase', ({ group }) => ['question', 'paraphrase'].includes(group)],
    [`both${FURTHER}`, ({ group }) => group.endsWith(FURTHER)],
    [`both${HELD_OUT}`, isHeldOut],
    ['all but held out', (labelled) => !isHeldOut(labelled)],
  ]
}

function failForLost(documents: readonly CorpusDocument[], queries: readonly LabelledQuery[]): void {
  const known = new Set(documents.map(({ path }) => path))
  const lost = queries.flatMap(({ expected }) => expected.filter((path) => !known.has(path)))
  if (lost.length > 0) throw new Error(`The labelled set names documents that are not there: ${lost.join(', ')}`)
}

function printMisses(name: string, answered: readonly Answered[]): void {
  for (const { group, query, place, titles } of answered.filter((each) => each.place !== 1)) {
    print(`${name}, ${group}: "${query}" at ${place ?? '-'}: ${titles.slice(0, 3).join(', ')}`)
  }
}
