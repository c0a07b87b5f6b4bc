import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { searchAnswer } from '../../../src/contract/records.ts'
import { openLibraryDatabase } from '../../../src/embedded/database/open-library-database.ts'
import { openTables } from '../../../src/embedded/database/open-tables.ts'
import { newIdentifier } from '../../../src/embedded/identifiers.ts'
import { openIndexRebuild } from '../../../src/embedded/search/rebuild-index.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import type { ServiceClient } from '../../contract/service-client.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { takeBack } from '../older-database.ts'
import { startLibrary, temporaryDirectory } from '../temporary-library.ts'

async function search(client: ServiceClient, query: string) {
  return searchAnswer.parse((await client.get(`/search/resources?${new URLSearchParams({ query })}`)).json)
}

it('an older library is indexed again beside its requests, across a restart', async () => {
  const first = await startLibrary()
  const library = await first.client.createLibrary()
  const ids: string[] = []
  for (let number = 0; number < 100; number += 1) {
    ids.push(await first.client.uploaded(library, { name: `n${number}.txt`, content: `Wombats ${number}` }))
  }
  await first.library.settled()
  await first.stop()
  takeBack(first.dataDir, 3)
  // Time does not pass, so indexing waits after its first transaction.
  const waiting = await startLibrary({ dataDir: first.dataDir, clock: manualClock() })
  expect((await search(waiting.client, 'wombat')).notice).toMatch(/The search index is being rebuilt: \d\d? % is done/)
  await waiting.stop()
  const second = await startLibrary({ dataDir: first.dataDir })
  const later = await second.client.uploaded(library, { name: 'later.txt', content: 'a wombat' })
  await second.library.settled()
  const { notice, results } = await search(second.client, 'wombats 73')
  expect(results[0]?.resource.id).toBe(ids[73])
  expect(notice).not.toContain('anew')
  expect((await search(second.client, 'later')).results.map(({ resource }) => resource.id)).toEqual([later])
})

it('a library deleted while it is indexed again stays deleted', async () => {
  const first = await startLibrary()
  const [kept, removed] = [await first.client.createLibrary(), await first.client.createLibrary()]
  for (let number = 0; number < 60; number += 1) {
    for (const library of [kept, removed]) {
      await first.client.uploaded(library, { name: `n${number}.txt`, content: `Wombats ${number} ${library}` })
    }
  }
  await first.library.settled()
  await first.stop()
  takeBack(first.dataDir, 3)
  const second = await startLibrary({ dataDir: first.dataDir })
  expect((await second.client.call('DELETE', `/libraries/${removed}`)).status).toBe(204)
  await second.library.settled()
  const { results } = await search(second.client, 'wombats')
  expect(new Set(results.map(({ resource }) => JSON.stringify(resource.library))).size).toBe(1)
  await second.stop()
  const database = new Database(join(first.dataDir, 'library.sqlite'), { readonly: true })
  expect(database.prepare("SELECT count(*) FROM passage_words WHERE passage_words MATCH 'wombats'").pluck().get()).toBe(
    60,
  )
  expect(database.prepare("SELECT count(*) FROM setting WHERE name LIKE 'index-%'").pluck().get()).toBe(0)
  database.close()
})

it('passages deleted while their words are prepared are not indexed', async () => {
  const file = join(temporaryDirectory(), 'library.sqlite')
  const database = openLibraryDatabase(file)
  onTestFinished(() => void database.close())
  const tables = openTables(database)
  const library = { publicId: 'l', name: 'l', overview: null, createdAtMs: 0 }
  const resource = {
    publicId: newIdentifier(0),
    sha256: Buffer.alloc(32),
    mimeType: 'text/plain',
    sizeBytes: 7,
    title: 'r',
  }
  const libraryId = tables.libraries.insert(library)
  const resourceId = tables.resources.insert({ ...resource, libraryId, createdAtMs: 0 })
  tables.passages.insert(resourceId, 0, { text: 'wombats', unit: 'line', firstUnit: 1, lastUnit: 1 })
  tables.settings.write('index-rebuild-end', '1')
  const writes = {
    write: async <T>(work: () => T) => {
      tables.libraries.remove(libraryId)
      tables.deletedLibraries.removePiece(libraryId)
      return work()
    },
  }
  const rebuild = openIndexRebuild({ tables, writes, logger: silentLogger, clock: systemClock })
  rebuild.start()
  await rebuild.settled()
  expect(database.prepare('SELECT count(*) FROM passage_words').pluck().get()).toBe(0)
})
