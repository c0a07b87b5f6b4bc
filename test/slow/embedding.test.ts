/** A sync into this computer's library embeds what it sent, and `library embed` the rest. */
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { startEmbeddingServer } from '../embedded/embedding/embedding-server.ts'
import { configure } from '../support/daemon.ts'
import { expectExit, type Home, homeWithPapers } from '../support/home.ts'
import { readPage } from '../support/pages.ts'

const PAPERS = { 'a.txt': 'The surgeon earns high wages.', 'b.txt': 'Ein Schiff im Hafen.' }
/** The embedder of the configuration file. */
const CONFIGURED = { SHELFD_EMBEDDER: '' }

async function homeWithEmbedder() {
  const server = await startEmbeddingServer()
  const home = homeWithPapers(PAPERS)
  configure(home, { embedder: { url: server.url, model: 'concepts' } })
  return { server, home }
}

async function searchByMeaning(home: Home): Promise<{ notice: string; first: string }> {
  const { notice, results } = await home.json(['search', 'how much do they pay a physician'], CONFIGURED)
  return { notice, first: results[0]?.resource.title }
}

test('a sync embeds what is new once everything is searchable, and asks for nothing when nothing is new', async () => {
  const { server, home } = await homeWithEmbedder()
  expect((await home.run(['sync', 'Papers'], CONFIGURED)).exitCode).toBe(0)
  expect(server.texts().toSorted()).toEqual(Object.values(PAPERS).toSorted())
  const { notice, first } = await searchByMeaning(home)
  expect(first).toBe('a.txt')
  expect(notice).not.toContain('Meaning is ')
  const sent = server.requests.length
  expect((await home.run(['sync', 'Papers'], CONFIGURED)).exitCode).toBe(0)
  home.write('Papers', { 'c.txt': 'The salary of a physician.' })
  expect((await home.run(['sync', 'Papers', '--embedder', 'none'], CONFIGURED)).exitCode).toBe(0)
  expect(server.requests).toHaveLength(sent)
})

test('Ctrl-C amid embedding ends at once, as the sync had ended, and says what is left', async () => {
  const { server, home } = await homeWithEmbedder()
  const release = server.holdFrom(1)
  const running = home.start(['sync', 'Papers'], { env: CONFIGURED })
  await server.received(1)
  running.child.kill('SIGINT')
  const { exitCode, stdout, stderr } = await running.ended
  expect(exitCode).toBe(0)
  expect(stdout).toContain('searchable  2 files')
  expect(stderr).toContain('Stopping. Everything is searchable by words.')
  expect(stderr).toContain('2 documents are compared by meaning once the daemon runs, or with "shelfd library embed".')
  release()
  expect((await searchByMeaning(home)).notice).toContain('"shelfd library embed" at once.')
  expect(await home.json(['library', 'embed'], CONFIGURED)).toEqual({ embedded: 2, missing: 0 })
  expect(await home.json(['library', 'embed'], CONFIGURED)).toEqual({ embedded: 0, missing: 0 })
  expect((await searchByMeaning(home)).first).toBe('a.txt')
})

test('an embedder that does not answer fails no sync, but `library embed`', async () => {
  const { server, home } = await homeWithEmbedder()
  server.override((_, response) => response.writeHead(503).end())
  const { exitCode, stderr } = await home.run(['sync', 'Papers'], CONFIGURED)
  expect(exitCode).toBe(0)
  expect(stderr).toMatch(/^Embedding ended early: .*503.*2 documents are compared by meaning once the daemon runs/m)
  expectExit(await home.run(['library', 'embed'], CONFIGURED), 5, /Cannot embed 2 documents: .*503/)
  expectExit(await home.run(['library', 'embed']), 2, 'no embedder is configured')
})

test('`library embed` leaves the library to a daemon, which embeds by itself', async () => {
  const { home } = await homeWithEmbedder()
  const daemon = home.start(['serve', '--json'], { env: CONFIGURED })
  await once(daemon.child.stdout ?? daemon.child, 'data')
  expectExit(await home.run(['library', 'embed'], CONFIGURED), 11, 'is held by')
})

test('the recipe for other languages works, here with a stand-in for Ollama', async () => {
  const { server, home } = await homeWithEmbedder()
  expect((await home.run(['sync', 'Papers'], CONFIGURED)).exitCode).toBe(0)
  const before = server.requests.length
  const [recipe = ''] = readPage('docs/recipes.md').match(/(?<=^```yaml\n)embedder:\n.*?(?=```)/ms) ?? []
  const yaml = recipe.replace('http://localhost:11434/v1', server.url.replace('/embeddings', ''))
  home.write('config/shelfd', { 'config.yaml': yaml })
  expect((await home.run(['doctor'], CONFIGURED)).stdout).toMatch(/^ok +embedder +bge-m3 at /m)
  expect(await home.json(['library', 'embed'], CONFIGURED)).toEqual({ embedded: 2, missing: 0 })
  await home.json(['search', 'wer bezahlt die Ärzte'], CONFIGURED)
  const sent = server.requests.slice(before)
  expect(new Set(sent.map(({ model }) => model))).toEqual(new Set(['bge-m3']))
  expect(sent.flatMap(({ texts }) => texts)).toEqual([...Object.values(PAPERS), 'wer bezahlt die Ärzte'])
})
