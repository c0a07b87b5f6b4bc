import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createPositionFinder } from '../../../src/embedded/ingest/passage-writer.ts'
import { pluck, type ServiceClient } from '../../contract/service-client.ts'
import { startLibrary } from '../temporary-library.ts'

it.each([
  ['small', 60],
  ['large', 1_200],
])('the text of a %s plain file is stored once', async (_, count) => {
  const { client, dataDir, stop } = await startLibrary()
  const library = await client.createLibrary()
  const paragraphs = Array.from({ length: count }, (_, number) => `Größe ${number}: ${'wörter, 数据库. '.repeat(10)}`)
  const content = `\ufeff${paragraphs.join('\r\n\r\n')}`
  const record = await client.processed(library, await client.uploaded(library, { name: 'a.txt', content }))
  const assets = await allAssets(client, library, String(record.id))
  expect(assets.length).toBeGreaterThan(3)
  const texts = await Promise.all(assets.map(async (id) => (await client.get(`/assets/${id}`)).text))
  expect(texts.join('').replace(/\s/g, '')).toBe(paragraphs.join('').replace(/\s/g, ''))
  const { json } = await client.get(`/search/resources?${new URLSearchParams({ query: '"Größe 37"' })}`)
  expect(JSON.stringify(json.results)).toContain('**Größe** **37**')
  await stop()
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  expect(database.prepare('SELECT count(*) FROM passage_text').pluck().get()).toBe(0)
  database.close()
})

it('a text that differs from its content is stored beside it', async () => {
  const { client, dataDir, stop } = await startLibrary()
  const library = await client.createLibrary()
  const html = { name: 'a.html', type: 'text/html', content: '<p>One <b>bold</b> word</p>' }
  const utf16 = { name: 'b.txt', content: new Uint8Array(Buffer.from('\ufeffUtf sixteen', 'utf16le')) }
  const zero = { name: 'c.txt', content: 'before\0after' }
  for (const [file, text] of [
    [html, 'One bold word'],
    [utf16, 'Utf sixteen'],
    [zero, 'beforeafter'],
  ] as const) {
    const record = await client.processed(library, await client.uploaded(library, file))
    expect(pluck(record.assets, 'text')).toEqual([text])
  }
  await stop()
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  expect(database.prepare('SELECT count(*) FROM passage_text').pluck().get()).toBe(3)
  database.close()
})

it('a found place holds the very text that was asked for', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { minLength: 1 }),
      fc.nat(3),
      (pieces, skipped) => {
        const bytes = Buffer.from(pieces.slice(skipped).join(''))
        const find = createPositionFinder((_, offset, length) => bytes.subarray(offset, offset + length))
        for (const text of pieces) {
          const place = find(1, text)
          if (place) expect(bytes.subarray(place.offset, place.offset + place.length).toString()).toBe(text)
        }
      },
    ),
  )
})

async function allAssets(client: ServiceClient, library: string, resource: string): Promise<unknown[]> {
  const assets: unknown[] = []
  for (let from: unknown = 0; from !== null; ) {
    const { json } = await client.get(`/libraries/${library}/resources/${resource}?assets_from=${from}`)
    assets.push(...pluck(json.assets, 'id'))
    from = json.next_assets_from
  }
  return assets
}
