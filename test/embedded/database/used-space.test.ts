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
