import assert from 'node:assert/strict'
import { z } from 'zod'
import { conforms, hasStatus } from '../suite/assert-answer.ts'
import type { Examination } from '../suite/examination.ts'
import { samplesOf } from '../suite/samples.ts'
import { assertion, type Sentence, sentence, unobservable } from '../suite/sentence.ts'

const hit = z.looseObject({ id: z.string().min(1) })
const detailedHit = hit.extend({
  title: z.string(),
  library: z.unknown().refine((library) => library !== undefined && library !== null, 'must be there'),
  paths: z.array(z.string()),
  assets: z.array(z.looseObject({ id: z.string().min(1) })),
})
const answerShape = z.looseObject({ notice: z.string(), results: z.array(z.looseObject({ resource: hit })) })

/** Sections 2.12 and 4.14: search. */
export const searches: readonly Sentence[] = [
  sentence(
    '2.12 An answer has a notice and results, each with a resource.',
    assertion('answers with and without results are whole', async (it) => {
      await find(it, { query: 'the' })
      await find(it, { query: `${it.stamp}nothing` })
    }),
  ),
  sentence(
    '2.12 Detailed results have identifier, title, library, paths and the assets that matter.',
    assertion('a detailed result has all of its fields', async (it) => {
      const { id } = await samplesOf(it).text()
      const found = (await find(it, { query: it.stamp })).find((each) => each.id === id)
      const { assets } = conforms(detailedHit, found)
      assert.ok(assets.length > 0, 'no asset is shown')
    }),
  ),
  sentence(
    '4.14 Resources are searched by a text.',
    assertion('a word finds only the text that has it', async (it) => {
      const { id } = await samplesOf(it).text()
      assert.ok((await idsOf(it, { query: it.stamp, strategy: 'lexical' })).includes(id), 'it is not found')
      assert.ok(!(await idsOf(it, { query: `${it.stamp}nothing`, strategy: 'lexical' })).includes(id), 'it is found')
    }),
    assertion('a search without a credential is refused', async (it) => {
      hasStatus(await it.clientWith('').get('/search/resources?query=the'), 401)
    }),
  ),
  sentence(
    '4.14 library_ids[], once or several times, limits the search to these libraries.',
    assertion('a search finds only resources of the named libraries', async (it) => {
      const { id, library } = await samplesOf(it).text()
      const other = await it.makeLibrary('searched')
      const inOther = await it.client().uploaded(other.id, { name: 'o.txt', content: `${it.stamp} in another library` })
      const named = async (...ids: string[]) => {
        const query = new URLSearchParams({ query: it.stamp, limit: '20' })
        for (const each of ids) query.append('library_ids[]', each)
        return await idsOf(it, query)
      }
      assert.ok((await named(library)).includes(id))
      assert.ok(!(await named(library)).includes(inOther))
      assert.ok(!(await named(other.id)).includes(id))
      assert.ok((await named(library, other.id)).includes(id))
    }),
  ),
  sentence(
    '4.14 Without them, all libraries that may be read are searched, and no others.',
    assertion('a text is found without naming its library', async (it) => {
      const { id } = await samplesOf(it).text()
      assert.ok((await idsOf(it, { query: it.stamp })).includes(id))
    }),
    assertion('a search without rights on libraries finds nothing', async (it) => {
      const answer = await it.client('steward').get(`/search/resources?query=${it.stamp}`)
      hasStatus(answer, 200)
      assert.deepEqual(answer.json.results, [])
    }),
  ),
  sentence(
    '4.14 The strategy is lexical, or balanced when it is left out.',
    assertion('both strategies find a text by its word', async (it) => {
      const { id } = await samplesOf(it).text()
      for (const strategy of [{}, { strategy: 'lexical' }]) {
        assert.ok((await idsOf(it, { query: it.stamp, ...strategy })).includes(id))
      }
    }),
  ),
  unobservable(
    '4.14 Lexical search calls no AI provider, balanced search can call some.',
    'calls to others are not shown',
  ),
  sentence(
    '4.14 The limit is the most candidates that are answered.',
    assertion('a limit of one gives one result', async (it) => {
      await samplesOf(it).text()
      await it.client().uploaded(await it.ownLibrary(), { name: 'second.txt', content: `${it.stamp} a second time` })
      assert.equal((await idsOf(it, { query: it.stamp, limit: '1' })).length, 1)
    }),
    assertion('a search never gives more candidates than its limit', async (it) => {
      assert.ok((await idsOf(it, { query: 'the', limit: '2' })).length <= 2)
    }),
  ),
  sentence(
    '4.14 Compact output leaves out the abstract and the assets.',
    assertion('compact results have no abstract and assets, detailed ones have both', async (it) => {
      const { id } = await samplesOf(it).text()
      const shownBy = async (query: Readonly<Record<string, string>>) =>
        (await find(it, { query: it.stamp, ...query })).find((each) => each.id === id) ?? {}
      const [compact, detailed] = [await shownBy({ output_format: 'compact' }), await shownBy({})]
      const shown = (record: object) => ['id', 'abstract', 'assets'].filter((field) => Object.hasOwn(record, field))
      assert.deepEqual([shown(compact), shown(detailed)], [['id'], ['id', 'abstract', 'assets']])
    }),
  ),
  sentence(
    '4.14 No match is a good answer with no results.',
    assertion('a word without a match is answered with no results', async (it) => {
      assert.deepEqual(await find(it, { query: `${it.stamp}nothing`, strategy: 'lexical' }), [])
    }),
  ),
  unobservable('4.14 Other strategies, parameters, bounds and fields are left open.', 'nothing is described'),
]

async function find(it: Examination, query: Readonly<Record<string, string>> | URLSearchParams) {
  const answer = await it.client().get(`/search/resources?${new URLSearchParams(query)}`)
  hasStatus(answer, 200)
  return conforms(answerShape, answer.json).results.map(({ resource }) => resource)
}

async function idsOf(it: Examination, query: Readonly<Record<string, string>> | URLSearchParams): Promise<string[]> {
  return (await find(it, query)).map(({ id }) => id)
}
