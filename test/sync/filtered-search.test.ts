import { describe, expect, test } from 'vitest'
import { RequestError } from '../../src/foundation/errors.ts'
import type { SearchRequest } from '../../src/remote/service-client.ts'
import type { SearchFilter } from '../../src/rules/search-filter.ts'
import { searchFiltered } from '../../src/sync/filtered-search.ts'

const ALL: SearchFilter = {
  versions: 'current',
  place: null,
  isType: null,
  sinceMs: null,
  beforeMs: null,
  order: 'relevance',
}
const resource = (number: number) => ({
  resource: { id: `r${number}`, mime_type: number % 50 === 7 ? 'image/png' : 'text/plain' },
})

/** A service that finds `found` resources, lists at most `most` of them, and refuses or shortens what asks for more. */
function searchOf(found: number, most: number, answersMore: 'refuses' | 'shortens') {
  const asked: (number | undefined)[] = []
  const searchResources = async ({ limit = 10 }: SearchRequest) => {
    asked.push(limit)
    if (limit > most && answersMore === 'refuses') throw new RequestError('invalid', 'limit is too high', 422)
    return {
      notice: '',
      results: Array.from({ length: Math.min(found, limit, most) }, (_, number) => resource(number)),
    }
  }
  const search = (filter: Partial<SearchFilter>, wanted: number) =>
    searchFiltered(
      { query: 'x' },
      {
        client: { searchResources },
        filter: { ...ALL, ...filter },
        wanted,
        findSent: (ids) => ids.map(() => undefined),
        signal: new AbortController().signal,
      },
    )
  return { asked, search }
}

const isPicture = { isType: (mime: string) => mime === 'image/png' }

describe('a filtered search', () => {
  test('asks for more only while too few hits fit', async () => {
    const { asked, search } = searchOf(5_000, 1_000, 'refuses')
    expect((await search(isPicture, 2)).hits.map(({ resource: { id } }) => id)).toEqual(['r7', 'r57'])
    expect(asked).toEqual([100])
    const { hits, candidates, isComplete } = await search(isPicture, 11)
    expect({ hits: hits.length, candidates, isComplete }).toEqual({ hits: 20, candidates: 1_000, isComplete: false })
    expect(asked).toEqual([100, 100, 1_000])
  })

  test.each(['refuses', 'shortens'] as const)(
    'says that it saw the best only, where a service %s a long list',
    async (answersMore) => {
      const { search } = searchOf(5_000, 100, answersMore)
      expect(await search(isPicture, 11)).toMatchObject({ candidates: 100, isComplete: false })
    },
  )

  test('sorts all that is found, and not only the first page', async () => {
    const { asked, search } = searchOf(300, 1_000, 'refuses')
    const { hits, isComplete } = await search({ order: 'name' }, 2)
    expect([hits.length, hits[0]?.title, hits[2]?.title, isComplete]).toEqual([300, 'r0', 'r2', true])
    expect(asked).toEqual([100, 1_000])
  })

  test('leaves out and counts hits of which nobody knows what is asked for', async () => {
    const { search } = searchOf(3, 1_000, 'refuses')
    expect(await search({ sinceMs: 0 }, 11)).toMatchObject({ hits: [], undecided: 3, isComplete: true })
    const below = { place: { isLocal: false, libraryPath: '/a' } } as const
    expect(await search({ ...below, sinceMs: 0 }, 11)).toMatchObject({ hits: [], undecided: 3 })
    expect(await search({ ...isPicture, sinceMs: 0 }, 11)).toMatchObject({ hits: [], undecided: 0 })
  })
})
