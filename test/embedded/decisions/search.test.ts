import { describe, expect, it } from 'vitest'
import { searchResponse } from '../../../src/contract/records.ts'
import { shareLibrary } from '../common-library.ts'

const context = shareLibrary()
const search = async (query: Readonly<Record<string, string>>) =>
  await context.client.get(`/search/resources?${new URLSearchParams(query)}`)
const word = () => `w${crypto.randomUUID().replaceAll('-', '')}`

describe('search of the embedded library', () => {
  it('a processed text is found by its terms', async () => {
    const [library, term] = [await context.newLibrary(), word()]
    const id = await context.client.uploaded(library, { name: 'a.txt', content: `The ${term} of fóxes` })
    await context.client.processed(library, id)
    const { json } = await search({ query: `${term.toUpperCase()} foxes`, strategy: 'lexical' })
    const { notice, results } = searchResponse.parse(json)
    expect(notice).not.toBe('')
    expect(results.map(({ resource }) => resource)).toEqual([
      expect.objectContaining({
        id,
        title: 'a.txt',
        paths: ['/.inbox/a.txt'],
        abstract: expect.stringContaining(term),
      }),
    ])
    expect(results[0]?.resource.assets?.[0]?.text).toContain(term)
  })

  it.each(['"', 'a AND', 'NOT (', '*', 'x:y', '-', "it's", 'a\0b', '^a NEAR/2 b'])(
    'the query %j is read as words',
    async (query) => {
      expect((await search({ query })).status).toBe(200)
    },
  )

  it.each([
    {},
    { query: '' },
    { query: 'x', limit: '0' },
    { query: 'x', limit: '101' },
    { query: 'x', limit: '1001', output_format: 'compact' },
    { query: 'x', strategy: 'magic' },
    { query: 'x', output_format: 'xml' },
  ])('the search %j is refused with 422', async (query) => {
    expect((await search(query)).status).toBe(422)
  })
})
