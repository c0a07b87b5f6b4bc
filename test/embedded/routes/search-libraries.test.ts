import { expect, test } from 'vitest'
import { searchResponse } from '../../../src/contract/records.ts'
import { startLibrary } from '../temporary-library.ts'

const search = (query: Readonly<Record<string, string>>) => `/search/resources?${new URLSearchParams(query)}`

test('a search covers the named library alone, in any common notation', async () => {
  const { client } = await startLibrary()
  const [one, two] = [await client.createLibrary(), await client.createLibrary()]
  const first = await client.uploaded(one, { name: 'a.txt', content: 'zebra' })
  const second = await client.uploaded(two, { name: 'a.txt', content: 'zebra' })
  await client.processed(two, second)
  const found = async (query: Readonly<Record<string, string>>) =>
    searchResponse
      .parse((await client.get(search({ query: 'zebra', ...query }))).json)
      .results.map(({ resource }) => resource.id)
  for (const name of ['library_ids[]', 'library_ids', 'library_ids[0]']) {
    expect([name, await found({ [name]: one })]).toEqual([name, [first]])
  }
  expect((await found({ library_ids: one, 'library_ids[1]': two })).toSorted()).toEqual([first, second].toSorted())
})

test('a search of unknown libraries, or that names them in another way, is refused', async () => {
  const { client } = await startLibrary()
  expect((await client.get(search({ query: 'x', 'library_ids[]': 'unknown' }))).status).toBe(422)
  for (const name of ['library_id', 'library_ids[x]', 'library_ids[][]', 'Library_IDs[]', 'libraries']) {
    const { status, json } = await client.get(search({ query: 'x', [name]: 'y' }))
    expect([status, json.errors]).toEqual([422, { [name]: ['Name the libraries as "library_ids[]"'] }])
  }
})
