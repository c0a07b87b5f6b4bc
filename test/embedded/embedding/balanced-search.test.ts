import { cpSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { startLibrary, temporaryDirectory } from '../temporary-library.ts'
import { startEmbeddingServer } from './embedding-server.ts'
import { search, upload } from './search-library.ts'

const AT_ONCE = { embedding: { calmMs: 0 } }
const NOTICE = 'Candidates, not verified answers: check excerpts against the source.'
const SIMILAR = 'No resource has all the terms; these have some of them, or a similar meaning.'

function countVectors(dataDir: string): unknown {
  const database = new Database(join(dataDir, 'library.sqlite'), { readonly: true })
  const count = database.prepare('SELECT count(*) FROM chunk_vectors').pluck().get()
  database.close()
  return count
}

it('a question in other words finds the document that means the same', async () => {
  const server = await startEmbeddingServer()
  const { client, library } = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  const id = await client.createLibrary()
  const texts = ['Tulips in spring.', 'The surgeon earns high wages.', 'A vessel in the harbour.']
  const [, surgeon] = await upload(client, id, texts)
  await library.settled()
  const { notice, ids, results } = await search(client, 'how much do they pay a physician')
  expect(ids[0]).toBe(surgeon)
  expect(notice).toBe(`${NOTICE} ${SIMILAR} None has "much", "pay", "physician".`)
  expect(results[0]?.resource.assets).toEqual([expect.objectContaining({ excerpt: 'The surgeon earns high wages.' })])
})

it('meaning counts where a document has all the words, which stays first', async () => {
  const server = await startEmbeddingServer()
  const { client, library } = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  const id = await client.createLibrary()
  const [near, cars, both] = await upload(client, id, [
    'A vehicle and its wages.',
    'car car automobile vehicle',
    'The salary of a car dealer.',
  ])
  await library.settled()
  const { ids, notice } = await search(client, 'car salary')
  expect([ids[0], new Set(ids), notice]).toEqual([both, new Set([near, cars, both]), NOTICE])
})

it.each(['physician', '"physician wages"', 'physician wages -harbour'])(
  'meaning is not asked for a query that means its words: %s',
  async (query) => {
    const server = await startEmbeddingServer()
    const { client, library } = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
    await upload(client, await client.createLibrary(), ['A surgeon in the harbour.'])
    await library.settled()
    const sent = server.requests.length
    expect((await search(client, query)).ids).toEqual([])
    expect(server.requests).toHaveLength(sent)
  },
)

it('a lexical search never asks for meaning', async () => {
  const server = await startEmbeddingServer()
  const { client, library } = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  await upload(client, await client.createLibrary(), ['The surgeon earns wages.'])
  await library.settled()
  const sent = server.requests.length
  expect(await search(client, 'pay of physician', { strategy: 'lexical' })).toMatchObject({ ids: [], notice: '' })
  expect(server.requests).toHaveLength(sent)
})

it('meaning finds only what is in the libraries of the search', async () => {
  const server = await startEmbeddingServer()
  const { client, library } = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  const [one, other] = [await client.createLibrary(), await client.createLibrary()]
  const [mine] = await upload(client, one, ['The surgeon earns wages.'])
  await upload(client, other, ['A physician and his salary.'])
  await library.settled()
  expect((await search(client, 'pay of doctors doctor', { 'library_ids[]': one })).ids).toEqual([mine])
})

it('documents are searchable before their meaning is considered, as the notice counts', async () => {
  const server = await startEmbeddingServer()
  const release = server.holdFrom(1)
  const { client, library } = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  const id = await client.createLibrary()
  const ids = await upload(client, id, ['The surgeon earns wages.', 'A vessel.', 'Tulips.'])
  await server.received(1)
  for (const each of ids) {
    const { json } = await client.get(`/libraries/${id}/resources/${each}`)
    expect(json).toMatchObject({ ingestion_status: 'completed' })
  }
  const early = await search(client, 'surgeon')
  expect(early).toMatchObject({
    ids: [ids[0]],
    notice: `${NOTICE} Meaning is not considered yet: no resource is embedded so far.`,
  })
  release()
  await library.settled()
  expect(await search(client, 'surgeon')).toMatchObject({ notice: NOTICE })
})

it('a process that ends soon embeds queries, and says who embeds documents', async () => {
  const server = await startEmbeddingServer()
  const options = { embedder: server.choice(), ...AT_ONCE }
  const first = await startLibrary(options)
  const id = await first.client.createLibrary()
  const [surgeon] = await upload(first.client, id, ['The surgeon earns wages.'])
  await first.library.settled()
  await first.stop()
  const sent = server.texts().length
  const { client, library, stop } = await startLibrary({ ...options, dataDir: first.dataDir, embedsDocuments: false })
  await upload(client, id, ['A vessel in the harbour.'])
  await library.settled()
  const query = 'how much do they pay a physician'
  const { ids, notice } = await search(client, query)
  expect(server.texts().slice(sent)).toEqual([query])
  expect(ids).toEqual([surgeon])
  const gap = 'Meaning is considered for all but 1 resource so far.'
  expect(notice).toBe(
    `${NOTICE} ${gap} The daemon and "shelfd serve" embed the rest while they run, "shelfd library embed" at once. ${SIMILAR} None has "much", "pay", "physician".`,
  )
  await stop()
  const last = await startLibrary({ ...options, dataDir: first.dataDir })
  await last.library.settled()
  expect(server.texts().slice(sent)).toEqual([query, 'A vessel in the harbour.'])
})

it('embedding goes on after a crash where its vectors end', async () => {
  const server = await startEmbeddingServer()
  const release = server.holdFrom(3)
  const first = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  const paragraphs = Array.from({ length: 60 }, (_, index) => `In ${index} the vessel sailed. `.repeat(50))
  await upload(first.client, await first.client.createLibrary(), [paragraphs.join('\n\n')])
  await server.received(3)
  const crashed = join(temporaryDirectory(), 'crashed')
  cpSync(first.dataDir, crashed, { recursive: true })
  const before = new Set(server.requests.slice(0, 2).flatMap(({ texts }) => texts))
  release()
  await first.library.settled()
  await first.stop()
  const all = server.texts()
  const second = await startLibrary({ dataDir: crashed, embedder: server.choice(), ...AT_ONCE })
  await second.library.settled()
  const again = server.texts().slice(all.length)
  expect(again.length).toBeGreaterThan(0)
  expect(again.filter((each) => before.has(each))).toEqual([])
  expect(all).toEqual(expect.arrayContaining(again))
  expect(countVectors(crashed)).toBe(countVectors(first.dataDir))
})

it('the vectors of a library are removed with it, also amid embedding', async () => {
  const server = await startEmbeddingServer()
  const { client, library, dataDir } = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  const [kept, removed] = [await client.createLibrary(), await client.createLibrary()]
  await upload(client, kept, ['The surgeon.'])
  await upload(client, removed, ['The vessel.'])
  await library.settled()
  expect(countVectors(dataDir)).toBe(2)
  const sent = server.requests.length
  const release = server.holdFrom(sent + 1)
  await upload(client, removed, ['Another vessel.'])
  await server.received(sent + 1)
  expect((await client.call('DELETE', `/libraries/${removed}`)).status).toBe(204)
  release()
  await library.settled()
  expect(countVectors(dataDir)).toBe(1)
})

it('another embedder makes all vectors anew, the same one none', async () => {
  const server = await startEmbeddingServer()
  const first = await startLibrary({ embedder: server.choice(), ...AT_ONCE })
  await upload(first.client, await first.client.createLibrary(), ['The surgeon.', 'The vessel.'])
  await first.library.settled()
  await first.stop()
  const { dataDir } = first
  const same = await startLibrary({ dataDir, embedder: server.choice(), ...AT_ONCE })
  await same.library.settled()
  await same.stop()
  expect(server.texts()).toEqual(['The surgeon.', 'The vessel.'])
  const other = await startLibrary({ dataDir, embedder: server.choice({ model: 'other' }), ...AT_ONCE })
  await other.library.settled()
  expect(server.texts()).toEqual(['The surgeon.', 'The vessel.', 'The surgeon.', 'The vessel.'])
  expect(countVectors(dataDir)).toBe(2)
})

it('without an embedder the notice says that only terms are matched', async () => {
  const { client } = await startLibrary()
  const { notice } = await search(client, 'anything at all')
  expect(notice).toBe('This instance matches terms only: no embedder is configured.')
})

it('beyond the most chunks, no further resource is embedded, as the notice counts', async () => {
  const server = await startEmbeddingServer()
  const { client, library } = await startLibrary({ embedder: server.choice(), embedding: { calmMs: 0, maxChunks: 2 } })
  await upload(client, await client.createLibrary(), ['The surgeon.', 'The vessel.', 'The wages.'])
  await library.settled()
  expect(server.texts()).toEqual(['The surgeon.', 'The vessel.'])
  expect((await search(client, 'surgeon')).notice).toContain('Meaning is considered for all but 1 resource so far.')
})
