import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { directoryPage } from '../../../src/contract/records.ts'
import { type EmbeddedLibrary, startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { titleOf } from '../../../src/embedded/storage/slug.ts'
import { ServiceClient } from '../../contract/service-client.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'paging-'))
let library: EmbeddedLibrary
beforeAll(async () => {
  library = await startEmbeddedLibrary({ dataDir })
})
afterAll(async () => {
  await library[Symbol.asyncDispose]()
  rmSync(dataDir, { recursive: true })
})

const name = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 12 })
  .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..' && text !== '.inbox')
const names = fc.uniqueArray(name, { maxLength: 14 })
const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

it('paging any tree gives each entry exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(names, names, fc.integer({ min: 1, max: 20 }), async (folders, files, limit) => {
      const client = new ServiceClient(library)
      const id = await client.createLibrary()
      for (const folder of folders) await client.call('POST', `/libraries/${id}/directory`, { path: `/${folder}` })
      // Without this, a name that looks like an escape of the form would arrive changed.
      const sent = files.map((file) => file.replaceAll('%', ''))
      for (const [index, file] of sent.entries()) {
        await client.uploaded(id, { name: file || 'x', content: String(index), path: '/' })
      }
      const seen = await everyEntry(client, id, limit)
      expect(seen.folders).toEqual(['.inbox', ...folders].toSorted(byCodePoint))
      expect(seen.files).toEqual(seen.files.toSorted(byCodePoint))
      expect(new Set(seen.files).size).toBe(files.length)
      expect(seen.titles.toSorted()).toEqual(sent.map((file) => titleOf(file || 'x')).toSorted())
    }),
    { numRuns: 25 },
  )
})

async function everyEntry(client: ServiceClient, id: string, limit: number) {
  const seen = { folders: [] as string[], files: [] as string[], titles: [] as string[] }
  let query: Record<string, string> = { limit: String(limit) }
  for (;;) {
    const page = directoryPage.parse((await client.listing(id, query)).json)
    expect(page.truncated).toBe(page.next_cursor !== null)
    expect(Math.max(page.folders.length, page.files.length)).toBeLessThanOrEqual(limit)
    seen.folders.push(...page.folders.map((folder) => folder.name))
    seen.files.push(...page.files.map(({ filename }) => filename))
    seen.titles.push(...page.files.map(({ title }) => title))
    if (page.next_cursor === null) return seen
    query = { limit: String(limit), cursor: page.next_cursor }
  }
}
