import { mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { chunkVectorsTable } from '../../../src/embedded/database/chunk-vectors-table.ts'
import { openLibraryDatabase, openServedLibrary } from '../../../src/embedded/database/open-library-database.ts'
import { openTables, type Tables } from '../../../src/embedded/database/open-tables.ts'
import { newIdentifier } from '../../../src/embedded/identifiers.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { pluck } from '../../contract/service-client.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startLibrary, temporaryDirectory } from '../temporary-library.ts'

const PASSAGES = Array.from({ length: 700 }, (_, number) => `Pelican ${number} dives. `.repeat(80))

it('a deleted library is gone at once, before its resources are removed', async () => {
  const first = await startLibrary()
  const [deleted, kept] = [await first.client.createLibrary(), await first.client.createLibrary()]
  const content = PASSAGES.join('\n')
  const id = await first.client.uploaded(deleted, { name: 'a.txt', content })
  const keptId = await first.client.uploaded(kept, { name: 'a.txt', content })
  const name = (await first.client.get(`/libraries/${deleted}`)).json.name
  await first.library.settled()
  await first.stop()
  // Time does not pass, so removal waits after its first piece.
  const waiting = await startLibrary({ dataDir: first.dataDir, clock: manualClock() })
  expect((await waiting.client.call('DELETE', `/libraries/${deleted}`)).status).toBe(204)
  expect(countOf(first.dataDir, 'resource')).toBe(2)
  const served = openServedLibrary(join(first.dataDir, 'library.sqlite'))
  expect(chunkVectorsTable(served).countToEmbed()).toBe(1)
  served.close()
  const gone = [
    `/libraries/${deleted}`,
    `/libraries/${deleted}/resources/${id}`,
    `/resources/${id}`,
    `/assets/${id}.699`,
  ]
  for (const path of gone) expect((await waiting.client.get(path)).status, path).toBe(404)
  expect((await waiting.client.call('DELETE', `/libraries/${deleted}`)).status).toBe(404)
  expect(pluck((await waiting.client.get('/libraries')).json.items, 'id')).toEqual([kept])
  const { json } = await waiting.client.get('/search/resources?query=pelican&output_format=compact&limit=1')
  expect(pluck(pluck(json.results, 'resource'), 'id')).toEqual([keptId])
  expect((await waiting.client.call('POST', '/libraries', { name, overview: null })).status).toBe(201)
  await waiting.stop()
  const last = await startLibrary({ dataDir: first.dataDir })
  await last.library.settled()
  expect([countOf(first.dataDir, 'resource'), countOf(first.dataDir, 'library')]).toEqual([1, 2])
  expect((await last.client.get(`/resources/${keptId}`)).text).toBe(content)
})

it('a deleted resource is gone at once, also from what it shares with others', async () => {
  const { client, library, dataDir } = await startLibrary()
  const id = await client.createLibrary()
  const upload = (name: string, content: string) => client.uploaded(id, { name, content })
  const [before, secret, after] = [
    await upload('a', 'pelican'),
    await upload('key', 'heron'),
    await upload('b', 'stork'),
  ]
  const remove = () => client.call('DELETE', `/libraries/${id}/resources/${secret}`)
  expect((await remove()).status).toBe(204)
  expect((await remove()).status).toBe(404)
  expect((await client.get(`/resources/${secret}`)).status).toBe(404)
  expect(pluck((await client.get(`/libraries/${id}/directory?path=/.inbox`)).json.files, 'id')).toEqual([before, after])
  expect((await client.get('/search/resources?query=heron')).json.results).toEqual([])
  // What is sent next shares no block with erased bytes.
  const again = await upload('key', 'heron')
  expect(again).not.toBe(secret)
  await library.settled()
  for (const [resource, text] of Object.entries({ [before]: 'pelican', [after]: 'stork', [again]: 'heron' })) {
    expect((await client.get(`/resources/${resource}`)).text).toBe(text)
  }
  expect([countOf(dataDir, 'resource'), countOf(dataDir, 'library')]).toEqual([3, 1])
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  onTestFinished(() => void database.close())
  const blocks = database.prepare<[], Buffer>('SELECT bytes FROM content_block ORDER BY id').pluck().all()
  expect(blocks.map((bytes) => bytes.toString('latin1'))).toEqual(['pelican\0\0\0\0\0stork', 'heron'])
})

it('the file of a content is removed with its last library', async () => {
  const { client, library, dataDir } = await startLibrary()
  const libraries = [await client.createLibrary(), await client.createLibrary()]
  const content = PASSAGES.join('\n')
  for (const id of libraries) await client.uploaded(id, { name: 'a.bin', type: 'application/octet-stream', content })
  const left: number[] = []
  for (const id of libraries) {
    await client.call('DELETE', `/libraries/${id}`)
    await library.settled()
    left.push(contentFiles(dataDir).length)
  }
  expect(left).toEqual([1, 0])
})

it('the file of a content that could not be removed is removed after the next start', async () => {
  const failed = Promise.withResolvers<string>()
  const { client, library, dataDir, stop } = await startLibrary({ logger: { ...silentLogger, error: failed.resolve } })
  const id = await client.createLibrary()
  await client.uploaded(id, { name: 'a.txt', content: PASSAGES.join('\n') })
  await library.settled()
  const [file = ''] = contentFiles(dataDir)
  // A directory in the place of the file cannot be removed like one.
  renameSync(file, join(dataDir, 'aside'))
  mkdirSync(file)
  await client.call('DELETE', `/libraries/${id}`)
  expect(await failed.promise).toMatch(/^Cannot continue to remove deleted libraries/)
  await stop()
  rmdirSync(file)
  renameSync(join(dataDir, 'aside'), file)
  const again = await startLibrary({ dataDir })
  await again.library.settled()
  expect([contentFiles(dataDir), countOf(dataDir, 'library')]).toEqual([[], 0])
})

it('a deleted library returns its space to the disk', async () => {
  const { client, library, dataDir, stop } = await startLibrary()
  const [kept, id] = [await client.createLibrary(), await client.createLibrary()]
  await client.uploaded(kept, { name: 'kept.txt', content: 'a pelican' })
  for (const part of [0, 200, 400]) {
    const content = PASSAGES.slice(part, part + 300).join('\n')
    await client.uploaded(id, { name: `${part}.txt`, content })
  }
  await library.settled()
  const full = usedPages(dataDir)
  await client.call('DELETE', `/libraries/${id}`)
  await library.settled()
  await stop()
  expect(usedPages(dataDir)).toBeLessThan(full / 2)
  expect(statSync(join(dataDir, 'library.sqlite')).size).toBe(usedPages(dataDir) * 4_096)
})

it('a library is removed in pieces of a bounded size', () => {
  const database = openLibraryDatabase(join(temporaryDirectory(), 'library.sqlite'))
  onTestFinished(() => void database.close())
  const tables = openTables(database)
  const libraryId = database.transaction(() => addLibrary(tables))()
  const sizes: number[] = []
  const left = () => ['passage', 'resource', 'directory', 'library'].map((table) => rows(database, table))
  for (let before = left(); tables.deletedLibraries.next() !== undefined; before = left()) {
    database.transaction(() => tables.deletedLibraries.removePiece(libraryId, () => false))()
    const after = left()
    sizes.push(before.reduce((sum, count, index) => sum + count - (after[index] ?? 0), 0))
  }
  expect(left()).toEqual([0, 0, 0, 0])
  expect(rows(database, 'passage_words')).toBe(0)
  expect(Math.max(...sizes)).toBeLessThan(110)
})

it('a piece whose time is over ends with the resource that it has begun', () => {
  const database = openLibraryDatabase(join(temporaryDirectory(), 'library.sqlite'))
  onTestFinished(() => void database.close())
  const tables = openTables(database)
  const libraryId = database.transaction(() => addLibrary(tables))()
  const before = rows(database, 'resource')
  database.transaction(() => tables.deletedLibraries.removePiece(libraryId, () => true))()
  expect(rows(database, 'resource')).toBe(before - 1)
})

it('no piece of a removal rewrites the search index', () => {
  const database = openLibraryDatabase(join(temporaryDirectory(), 'library.sqlite'))
  onTestFinished(() => void database.close())
  const tables = openTables(database)
  const libraryId = tables.libraries.insert({ publicId: 'l', name: 'l', overview: null, createdAtMs: 0 })
  const add = database.transaction((from: number) => {
    for (let index = from; index < from + 100; index += 1)
      addResource(tables, libraryId, index, 1, describeNetworkError(index))
  })
  for (let from = 0; from < 2_000; from += 100) add(from)
  tables.libraries.remove(libraryId)
  database.exec("INSERT INTO passage_words (passage_words) VALUES ('optimize')")
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.pragma('wal_autocheckpoint = 0')
  const frames = () => Math.floor(statSync(`${database.name}-wal`).size / 4_096)
  const written: number[] = []
  for (let before = frames(); tables.deletedLibraries.next() !== undefined; before = frames()) {
    database.transaction(() => tables.deletedLibraries.removePiece(libraryId, () => false))()
    written.push(frames() - before)
  }
  expect(written.length).toBeGreaterThan(10)
  expect(Math.max(...written)).toBeLessThan(100)
})

/** Many words of which most are in few texts. */
function describeNetworkError(index: number): string {
  return Array.from({ length: 200 }, (_, at) => `w${(index * 31 + at * 97) % 9_000}`).join(' ')
}

/** A deleted library with many directories and passages. */
function addLibrary(tables: Tables): number {
  const libraryId = tables.libraries.insert({ publicId: 'l', name: 'l', overview: null, createdAtMs: 0 })
  tables.directories.insertRoot(libraryId)
  const parentId = tables.directories.byPath(libraryId, '/')?.id ?? null
  for (let number = 0; number < 600; number += 1) {
    tables.directories.insert({ libraryId, parentId, path: `/${number}`, name: `${number}` })
  }
  for (const [index, passages] of [0, 700, 1, 250, 1].entries()) addResource(tables, libraryId, index, passages)
  tables.libraries.remove(libraryId)
  return libraryId
}

function addResource(tables: Tables, libraryId: number, index: number, passages: number, body = 'a pelican'): void {
  const head = { libraryId, mimeType: 'text/plain', sizeBytes: 0, title: `${index}`, createdAtMs: 0 }
  const id = tables.resources.insert({
    publicId: newIdentifier(index),
    sha256: Buffer.from([index >> 8, index]),
    ...head,
  })
  for (let ordinal = 0; ordinal < passages; ordinal += 1) {
    const passage = tables.passages.insert(id, ordinal, { text: 'a pelican', unit: 'line', firstUnit: 1, lastUnit: 1 })
    tables.passageWords.insert(passage, libraryId, { name: '', heading: 'a heading', body, forms: '' })
  }
}

function rows(database: Database.Database, table: string): number {
  return Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
}

function countOf(dataDir: string, table: string): number {
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  const count = rows(database, table)
  database.close()
  return count
}

function usedPages(dataDir: string): number {
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  const pages = Number(database.pragma('page_count', { simple: true }))
  database.close()
  return pages
}

function contentFiles(dataDir: string): string[] {
  const entries = readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}
