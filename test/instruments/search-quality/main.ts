/**
 * Prints how well the embedded library finds the documents of the labelled set: `npm run search-quality`, with `--balanced` also
 * the strategy that considers meaning (some minutes of a core), with `--xapian` also Xapian, where its programs are installed, and
 * `--misses` for the queries whose document is not the first.
 */
import { parseArgs } from 'node:util'
import { isXapianInstalled } from '../../support/xapian.ts'
import { readCorpus, readQueries } from './corpus.ts'
import { type Answered, figuresOf, measure } from './measure.ts'
import { measureXapian } from './measure-xapian.ts'

const { values } = parseArgs({
  options: {
    balanced: { type: 'boolean', default: false },
    misses: { type: 'boolean', default: false },
    xapian: { type: 'boolean', default: false },
  },
})
const documents = readCorpus()
const queries = readQueries()
const known = new Set(documents.map(({ path }) => path))
const lost = queries.flatMap(({ expected }) => expected.filter((path) => !known.has(path)))
if (lost.length > 0) throw new Error(`The labelled set names documents that are not there: ${lost.join(', ')}`)

const measured: (readonly [name: string, answered: Answered[]])[] = [
  ...(await measure(documents, queries, values.balanced ? ['lexical', 'balanced'] : ['lexical'])),
]
if (values.xapian && isXapianInstalled()) measured.push(['Xapian', measureXapian(documents, queries)])
else if (values.xapian) process.stdout.write('not installed: Xapian (xapian-omega)\n')
for (const [name, answered] of measured) {
  process.stdout.write(`${documents.length} documents, ${queries.length} queries, ${name}\n`)
  for (const { group, queries: count, recall, reciprocalRank } of figuresOf(answered)) {
    const figures = [recall.toFixed(2).padStart(7), reciprocalRank.toFixed(2).padStart(7)]
    process.stdout.write(`${[group.padEnd(12), String(count).padStart(4), ...figures].join('')}\n`)
  }
  if (!values.misses) continue
  for (const { group, query, place, titles } of answered.filter((each) => each.place !== 1)) {
    process.stdout.write(`${group}: "${query}" at ${place ?? '-'}: ${titles.slice(0, 3).join(', ')}\n`)
  }
}
