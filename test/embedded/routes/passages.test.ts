import { expect, test } from 'vitest'
import { startLibrary } from '../temporary-library.ts'

interface Asset {
  readonly position: number
  readonly text: string
  readonly excerpt: string
  readonly excerpt_marks: [number, number][]
}

test('all passages of a long document can be read whole, page by page', async () => {
  const { client, library } = await startLibrary()
  const id = await client.createLibrary()
  const content = Array.from({ length: 6_000 }, (_, line) => `Line ${line} of a long text.\n`).join('')
  const resource = await client.uploaded(id, { name: 'long.txt', content })
  await library.settled()
  const texts: string[] = []
  let [from, pages]: [unknown, number] = [0, 0]
  while (from !== null) {
    const { json } = await client.get(`/libraries/${id}/resources/${resource}?assets_from=${from}&asset_text=whole`)
    const assets = json.assets as Asset[]
    expect(assets.map(({ position }) => position)).toEqual(assets.map((_, index) => texts.length + index))
    texts.push(...assets.map(({ text }) => text))
    from = json.next_assets_from
    pages++
  }
  expect(pages).toBeGreaterThan(3)
  expect(texts.join('\n').split(/\s+/)).toEqual(content.trim().split(/\s+/))
})

test('a resource shows the beginning of its passages by default', async () => {
  const { client, library } = await startLibrary()
  const id = await client.createLibrary()
  const resource = await client.uploaded(id, { name: 'a.txt', content: 'x'.repeat(1_000) })
  await library.settled()
  const { json } = await client.get(`/libraries/${id}/resources/${resource}`)
  expect([json.next_assets_from, (json.assets as Asset[]).map(({ text }) => text.length)]).toEqual([null, [200]])
  for (const query of ['assets_from=-1', 'assets_from=x', 'asset_text=all']) {
    const { status } = await client.get(`/libraries/${id}/resources/${resource}?${query}`)
    expect([query, status]).toEqual([query, 422])
  }
})

test('an excerpt distinguishes its marks from asterisks of the text', async () => {
  const { client, library } = await startLibrary()
  const id = await client.createLibrary()
  const content = `${'Much before it. '.repeat(40)}\n\n**Bold**  words\nabout the **heron** and\n two herons.`
  await client.uploaded(id, { name: 'a.md', content })
  await library.settled()
  const { json } = await client.get('/search/resources?query=heron+words')
  const [hit] = json.results as { resource: { assets: Asset[] } }[]
  const { excerpt = '', excerpt_marks: marks = [] } = hit?.resource.assets[0] ?? {}
  expect(excerpt).toMatch(/^… .*\*\*Bold\*\* \*\*words\*\* about the \*\*\*\*heron\*\*\*\* and two \*\*herons\*\*\.$/)
  expect(marks.map(([start, end]) => excerpt.slice(start, end))).toEqual(['words', 'heron', 'herons'])
})
