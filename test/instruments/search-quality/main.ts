/** `npm run search-quality`: prints how well the embedded library finds the documents of the labelled set. */
import { z } from 'zod'
import { isXapianInstalled } from '../../support/xapian.ts'
import { flag, print, runInstrument } from '../instrument.ts'
import { readCorpus, readQueries } from './corpus.ts'
import { type Answered, figuresOf, measure } from './measure.ts'
import { measureXapian } from './measure-xapian.ts'

const OPTIONS = z.object({
  balanced: flag().describe('also the strategy that considers meaning (some minutes of a core)'),
  misses: flag().describe('the queries whose document is not the first'),
  xapian: flag().describe('also Xapian, where its programs are installed'),
})

await runInstrument('search-quality', OPTIONS, async (values) => {
  const documents = readCorpus()
  const queries = readQueries()
  const known = new Set(documents.map(({ path }) => path))
  const lost = queries.flatMap(({ expected }) => expected.filter((path) => !known.has(path)))
  if (lost.length > 0) throw new Error(`The labelled set names documents that are not there: ${lost.join(', ')}`)

  const measured: (readonly [name: string, answered: Answered[]])[] = [
    ...(await measure(documents, queries, values.balanced ? ['lexical', 'balanced'] : ['lexical'])),
  ]
  if (values.xapian && isXapianInstalled()) measured.push(['Xapian', measureXapian(documents, queries)])
  else if (values.xapian) print('not installed: Xapian (xapian-omega)')
  for (const [name, answered] of measured) {
    print(`${documents.length} documents, ${queries.length} queries, ${name}`)
    for (const { group, queries: count, recall, reciprocalRank } of figuresOf(answered)) {
      const figures = [recall.toFixed(2).padStart(7), reciprocalRank.toFixed(2).padStart(7)]
      print(`${[group.padEnd(12), String(count).padStart(4), ...figures].join('')}`)
    }
    if (!values.misses) continue
    for (const { group, query, place, titles } of answered.filter((each) => each.place !== 1)) {
      print(`${group}: "${query}" at ${place ?? '-'}: ${titles.slice(0, 3).join(', ')}`)
    }
  }
  return true
})
