import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { pluck, type ServiceClient } from '../../contract/service-client.ts'
import { takeBack } from '../older-database.ts'
import { startLibrary } from '../temporary-library.ts'
import { TWO_SCENES } from '../video/film.ts'

const SENTENCES = Array.from({ length: 600 }, (_, number) => `Pelican number ${number} dives into the größte bay.`)
const FILES = [
  { name: 'small.txt', content: `\ufeff${SENTENCES.join('\r\n')}` },
  { name: 'page.html', type: 'text/html', content: `<p>Flamingos <b>wade</b></p>${'<p>in the lagoon</p>'.repeat(90)}` },
  { name: 'large.txt', content: SENTENCES.join('\n').repeat(3) },
  { name: 'one.txt', content: '1' },
  { name: 'film.mp4', type: 'video/mp4', content: TWO_SCENES },
  { name: 'image.iso', type: 'application/x-iso9660-image', content: Buffer.alloc(100_000) },
]

it('a migrated library keeps everything it shows and takes less space', async () => {
  const first = await startLibrary()
  const library = await first.client.createLibrary()
  for (const file of FILES) await first.client.uploaded(library, file)
  await first.library.settled()
  const before = await everything(first.client, library)
  await first.stop()
  takeBack(first.dataDir, 5)
  const olderBytes = textBytes(first.dataDir, 'SELECT text AS bytes FROM passage')
  const second = await startLibrary({ dataDir: first.dataDir })
  expect(storedFiles(first.dataDir).map(endOf)).toEqual(['plain', 'plain'])
  expect(await everything(second.client, library)).toEqual(before)
  await second.library.settled()
  expect(await everything(second.client, library)).toEqual(before)
  expect(storedFiles(first.dataDir).map(endOf).sort()).toEqual(['packed', 'plain'])
  for (const file of FILES) expect((await second.client.upload(library, file)).json.duplicate).toBe(true)
  const { json } = await second.client.get('/search/resources?query=flamingo&output_format=compact')
  expect(pluck(pluck(json.results, 'resource'), 'title')).toEqual(['page.html'])
  await second.stop()
  const bytes = textBytes(
    first.dataDir,
    'SELECT text AS bytes FROM passage UNION ALL SELECT bytes FROM passage_text UNION ALL SELECT bytes FROM content_block',
  )
  expect(bytes).toBeLessThan(olderBytes / 2)
})

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

/** What the interface shows of each resource, its bytes and its texts. */
async function everything(client: ServiceClient, library: string): Promise<unknown[]> {
  const { json } = await client.get(`/libraries/${library}/directory?path=/.inbox`)
  const shown = pluck(json.files, 'id').map(async (id) => {
    const record = (await client.get(`/libraries/${library}/resources/${id}`)).json
    const texts = pluck(record.assets, 'id').map(async (asset) => (await client.get(`/assets/${asset}`)).text)
    const original = await client.get(`/resources/${id}`)
    return [record, original.text, original.headers.get('etag'), ...(await Promise.all(texts))]
  })
  return [json.files, ...(await Promise.all(shown))]
}

/** The paths of the larger contents. */
function storedFiles(dataDir: string): string[] {
  const entries = readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

function endOf(file: string): string {
  return file.endsWith('.zst') ? 'packed' : 'plain'
}

/** What contents and texts take. */
function textBytes(dataDir: string, texts: string): number {
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  const all = `SELECT sum(octet_length(bytes)) FROM (SELECT bytes FROM small_content UNION ALL ${texts})`
  const bytes = Number(database.prepare(all).pluck().get())
  database.close()
  return bytes
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
