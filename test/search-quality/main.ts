/**
 * Prints how well the embedded library finds the documents of the labelled set: `npm run search-quality`, with `--strategy
 * balanced` for the other strategy and `--misses` for the queries whose document is not the first.
 */
import { parseArgs } from 'node:util'
import { readCorpus } from './corpus.ts'
import { figuresOf, measure } from './measure.ts'
import { readQueries } from './queries.ts'

const { values } = parseArgs({
  options: { strategy: { type: 'string', default: 'lexical' }, misses: { type: 'boolean', default: false } },
})
const documents = readCorpus()
const queries = readQueries()
const known = new Set(documents.map(({ path }) => path))
const lost = queries.flatMap(({ expected }) => expected.filter((path) => !known.has(path)))
if (lost.length > 0) throw new Error(`The labelled set names documents that are not there: ${lost.join(', ')}`)

const answered = await measure(documents, queries, values.strategy)
if (values.misses) {
  for (const { group, query, place, titles } of answered.filter((each) => each.place !== 1)) {
    process.stdout.write(`${group}: "${query}" at ${place ?? '-'}: ${titles.slice(0, 3).join(', ')}\n`)
  }
}
process.stdout.write(`${documents.length} documents, ${queries.length} queries, ${values.strategy}\n`)
for (const { group, queries: count, recall, reciprocalRank } of figuresOf(answered)) {
  const row = [
    group.padEnd(12),
    String(count).padStart(4),
    recall.toFixed(2).padStart(7),
    reciprocalRank.toFixed(2).padStart(7),
  ]
  process.stdout.write(`${row.join('')}\n`)
}
