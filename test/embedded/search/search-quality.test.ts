import { expect, it } from 'vitest'
import { readCorpus } from '../../search-quality/corpus.ts'
import { figuresOf, measure } from '../../search-quality/measure.ts'
import { readQueries } from '../../search-quality/queries.ts'

// `npm run search-quality` measures the whole set; this test holds the figures of a part in four scripts.
const LANGUAGES = ['de', 'ru', 'zh', 'ko']

it('word forms are found among the articles of a declaration', async () => {
  const documents = readCorpus().filter(({ path }) => LANGUAGES.some((each) => path.startsWith(`declaration/${each}/`)))
  const paths = new Set(documents.map(({ path }) => path))
  const queries = readQueries().filter(({ expected }) => expected.some((path) => paths.has(path)))
  const all = figuresOf(await measure(documents, queries, 'lexical')).at(-1)
  expect(all?.queries).toBeGreaterThan(20)
  expect(all?.recall).toBe(1)
  expect(all?.reciprocalRank).toBeGreaterThan(0.9)
})
