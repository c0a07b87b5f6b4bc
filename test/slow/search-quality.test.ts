import { expect, it } from 'vitest'
import { type CorpusDocument, readCorpus, readQueries } from '../instruments/search-quality/corpus.ts'
import { figuresOf, measure } from '../instruments/search-quality/measure.ts'

// `npm run search-quality` measures the whole set; this test holds the figures of a part in four scripts.
const LANGUAGES = ['de', 'ru', 'zh', 'ko']

it('word forms are found among the articles of a declaration', async () => {
  const documents = readCorpus().filter(({ path }) => LANGUAGES.some((each) => path.startsWith(`declaration/${each}/`)))
  const paths = new Set(documents.map(({ path }) => path))
  const queries = readQueries().filter(({ expected }) => expected.some((path) => paths.has(path)))
  const all = figuresOf((await measure(documents, queries, ['lexical'])).get('lexical') ?? []).at(-1)
  expect(all?.queries).toBeGreaterThan(20)
  expect(all?.recall).toBe(1)
  expect(all?.reciprocalRank).toBeGreaterThan(0.9)
})

it('balanced search finds paraphrases, and terms as well as lexical search', { timeout: 240_000 }, async () => {
  const isManual = ({ path }: CorpusDocument) => !path.startsWith('declaration/')
  const isChosen = (document: CorpusDocument) =>
    isManual(document) ? document.text.length < 2_500 : /\/(?:en|nl)\//.test(document.path)
  const answers = new Set(readQueries().flatMap(({ expected }) => expected))
  const documents = readCorpus().filter((each) => answers.has(each.path) && isChosen(each))
  const paths = new Set(documents.map(({ path }) => path))
  const queries = readQueries().filter(({ expected }) => expected.some((path) => paths.has(path)))
  const answered = await measure(documents, queries, ['lexical', 'balanced'])
  const [lexical, balanced] = [...answered.values()].map(
    (each) => new Map(figuresOf(each).map((one) => [one.group, one])),
  )
  expect(lexical?.get('paraphrases')?.recall).toBeLessThan(0.4)
  expect(balanced?.get('paraphrases')?.queries).toBeGreaterThan(20)
  expect(balanced?.get('paraphrases')?.recall).toBeGreaterThan(0.8)
  expect(balanced?.get('paraphrases')?.reciprocalRank).toBeGreaterThan(0.5)
  for (const group of ['terms', 'forms-nl']) {
    const [words, both] = [lexical?.get(group), balanced?.get(group)]
    expect(both?.recall).toBe(words?.recall)
    expect(both?.reciprocalRank).toBeGreaterThan((words?.reciprocalRank ?? 1) - 0.1)
  }
})
