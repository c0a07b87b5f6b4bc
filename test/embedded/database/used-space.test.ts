import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { startLibrary } from '../temporary-library.ts'

const SENTENCES = Array.from({ length: 600 }, (_, number) => `Pelican number ${number} dives into the größte bay.`)

it.each([1, 5])('stored text %i times takes less space than itself, index included', async (times) => {
  const { client, library, dataDir, stop } = await startLibrary()
  const id = await client.createLibrary()
  const text = SENTENCES.join('\n').repeat(times)
  const empty = usedBytes(dataDir)
  await client.uploaded(id, { name: 'a.txt', content: text })
  await library.settled()
  await stop()
  const files = storedFiles(dataDir).map((file) => statSync(file).size)
  expect(usedBytes(dataDir) - empty + (files[0] ?? 0)).toBeLessThan(text.length)
  expect(files).toHaveLength(times === 1 ? 0 : 1)
})

it('the words of many small texts are in one segment of the index when the library was closed', async () => {
  const { client, library, dataDir, stop } = await startLibrary()
  const id = await client.createLibrary()
  for (const [number, content] of SENTENCES.slice(0, 100).entries())
    await client.uploaded(id, { name: `${number}.txt`, content })
  await library.settled()
  await stop()
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  const segments = database.prepare('SELECT count(DISTINCT segid) FROM passage_words_idx').pluck().get()
  database.close()
  expect(segments).toBe(1)
})

/** The paths of the larger contents. */
function storedFiles(dataDir: string): string[] {
  const entries = readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

/** The pages of the database that hold something. */
function usedBytes(dataDir: string): number {
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  const [free, all, pageBytes] = ['freelist_count', 'page_count', 'page_size'].map((name) =>
    Number(database.pragma(name, { simple: true })),
  )
  database.close()
  return ((all ?? 0) - (free ?? 0)) * (pageBytes ?? 0)
}
