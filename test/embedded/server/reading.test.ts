import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { fillPath, OPENAPI_PATH, ROUTES } from '../../../src/contract/routes.ts'
import { pluck } from '../../contract/service-client.ts'
import { startLibrary } from '../temporary-library.ts'

test('no GET writes anything, whatever it asks for [S-12]', async () => {
  const { client, dataDir, library } = await startLibrary()
  const libraryId = await client.createLibrary()
  const resource = await client.uploaded(libraryId, { name: 'a.md', content: '# Tides\n\nspring tide' })
  const { assets } = await client.processed(libraryId, resource)
  const [asset] = pluck(assets, 'id')
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  // Changes with every commit of another connection.
  const commits = () => database.pragma('data_version', { simple: true })
  const before = commits()
  const reading = Object.values(ROUTES).filter(({ method }) => method === 'GET')
  const statuses: number[] = []
  for (const { path } of reading) {
    const filled = fillPath(path, { library: libraryId, resource, asset: String(asset) }).slice('/v1'.length)
    for (const query of ['?query=tide&path=/', '?name=x&overview=y&path=/new&_method=DELETE']) {
      statuses.push((await client.get(filled + query)).status)
    }
  }
  await fetch(library.url + OPENAPI_PATH)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(reading.length / 2)
  expect(commits()).toBe(before)
  await client.createLibrary()
  expect(commits()).not.toBe(before)
  database.close()
})
