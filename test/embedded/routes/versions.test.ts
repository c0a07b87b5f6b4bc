import { expect, test } from 'vitest'
import { searchResponse } from '../../../src/contract/records.ts'
import { startLibrary } from '../temporary-library.ts'

type Started = Awaited<ReturnType<typeof startLibrary>>

const search = async ({ client }: Started, query: Readonly<Record<string, string>>) => {
  const { json } = await client.get(`/search/resources?${new URLSearchParams({ limit: '100', ...query })}`)
  return searchResponse.parse(json).results.map(({ resource }) => resource)
}

/** Uploads these texts one after the other under one name into one directory; returns their resources. */
async function uploadVersions(
  { client }: Started,
  library: string,
  { name, path, texts }: { readonly name: string; readonly path?: string; readonly texts: readonly string[] },
): Promise<string[]> {
  const ids: string[] = []
  for (const content of texts) ids.push(await client.uploaded(library, { name, content, ...(path && { path }) }))
  for (const id of ids) await client.processed(library, id)
  return ids
}

const diary = Array.from(
  { length: 120 },
  (_, day) => `A diary of sails, ${day % 2 ? 'sails '.repeat(9) : ''}day ${day}`,
)

test('a search of current versions finds the newest of those of one name in one directory', async () => {
  const started = await startLibrary()
  const library = await started.client.createLibrary()
  await started.client.call('POST', `/libraries/${library}/directory`, { path: '/a' })
  await started.client.call('POST', `/libraries/${library}/directory`, { path: '/b' })
  const days = await uploadVersions(started, library, { name: 'Tage Buch.txt', path: '/a', texts: diary })
  const [other] = await uploadVersions(started, library, { name: 'Tage Buch.txt', path: '/b', texts: ['Old sails'] })
  const newest = days.at(-1)
  for (const strategy of ['lexical', 'balanced']) {
    const current = await search(started, { query: 'sails', versions: 'current', strategy })
    expect(current.map(({ id, superseded_by }) => [id, superseded_by]).sort()).toEqual(
      [
        [newest, null],
        [other, null],
      ].sort(),
    )
    expect(current.find(({ id }) => id === newest)?.earlier_versions).toMatchObject({ count: 119 })
  }
  const all = await search(started, { query: 'sails', limit: '1000', output_format: 'compact' })
  expect(all).toHaveLength(121)
  expect(new Set(all.map(({ superseded_by }) => superseded_by))).toEqual(new Set([newest, null]))
  // The service keeps the interface's default.
  expect(await search(started, { query: 'sails' })).toHaveLength(100)
  const { status, json } = await started.client.get('/search/resources?query=sails&versions=new')
  expect([status, json.errors]).toEqual([422, { versions: [expect.stringContaining('current')] }])
})

test('a version that is the newest in one of its places is current, and so is all of the inbox', async () => {
  const started = await startLibrary()
  const { client } = started
  const library = await client.createLibrary()
  for (const path of ['/a', '/b']) await client.call('POST', `/libraries/${library}/directory`, { path })
  const [old, newer] = await uploadVersions(started, library, { name: 'x.md', path: '/a', texts: ['fox 1', 'fox 2'] })
  expect((await search(started, { query: 'fox', versions: 'current' })).map(({ id }) => id)).toEqual([newer])
  await uploadVersions(started, library, { name: 'kept.md', path: '/b', texts: ['fox 1'] })
  const [one, two] = await uploadVersions(started, library, { name: 'x.md', texts: ['fox 3', 'fox 4'] })
  const ids = (await search(started, { query: 'fox', versions: 'current' })).map(({ id }) => id)
  expect(ids.sort()).toEqual([old, newer, one, two].sort())
})
