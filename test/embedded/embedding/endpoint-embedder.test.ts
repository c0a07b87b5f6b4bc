import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { searchResponse } from '../../../src/contract/records.ts'
import { openEndpointEmbedder } from '../../../src/embedded/embedding/endpoint-embedder.ts'
import { type Clock, systemClock } from '../../../src/foundation/clock.ts'
import { makeSelfSigned } from '../../support/certificates.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startLibrary } from '../temporary-library.ts'
import { type EmbeddingServer, startEmbeddingServer } from './embedding-server.ts'

const KEY = 'sk-canary-key'

function openEmbedder({ url }: Pick<EmbeddingServer, 'url'>, clock: Clock = systemClock) {
  const embedder = openEndpointEmbedder({ url, model: 'concepts', key: KEY }, clock)
  onTestFinished(embedder.stop)
  return embedder
}

function answerWith(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  return (_: unknown, response: ServerResponse) => response.writeHead(status, headers).end(body)
}

it('vectors come in the order of the texts, and the key goes with the request', async () => {
  const server = await startEmbeddingServer()
  const vectors = await openEmbedder(server).embed(['a car', 'a ship'], 'document')
  expect(vectors).toEqual([Float32Array.of(0.01, 1, 0, 0, 0), Float32Array.of(0.01, 0, 0, 0, 1)])
  expect(server.requests).toEqual([{ model: 'concepts', texts: ['a car', 'a ship'], authorization: `Bearer ${KEY}` }])
})

it.each([
  ['no JSON', 'it works!', 'it is not in the format of OpenAI'],
  ['no vectors', '{"data":[]}', '0 vectors for 2 texts'],
  ['a vector twice', '{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}', '2 vectors for 2 texts'],
  ['vectors of two models', '{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}', 'differ in length'],
  ['text for numbers', '{"data":[{"index":0,"embedding":["1"]}]}', 'it is not in the format of OpenAI'],
  ['an endless vector', `{"data":[{"index":0,"embedding":[${'1,'.repeat(5_000)}1]}]}`, 'not in the format of OpenAI'],
])('an answer with %s is no vector', async (_, body, why) => {
  const server = await startEmbeddingServer()
  server.override(answerWith(200, body))
  await expect(openEmbedder(server).embed(['a car', 'a ship'], 'document')).rejects.toThrow(why)
})

it('a redirect is not followed, since it could take texts and key elsewhere', async () => {
  const [server, other] = [await startEmbeddingServer(), await startEmbeddingServer()]
  server.override(answerWith(307, '', { location: other.url }))
  await expect(openEmbedder(server).embed(['a car'], 'document')).rejects.toThrow('answers with 307')
  expect(other.requests).toEqual([])
})

it('a certificate that nobody vouches for gets neither texts nor key, whatever the environment says [S-02]', async () => {
  const requests: IncomingMessage[] = []
  const server = createServer(makeSelfSigned('localhost'), (request) => void requests.push(request))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { port } = z.object({ port: z.int() }).parse(server.address())
  const url = `https://localhost:${port}/v1/embeddings`
  await expect(openEmbedder({ url }).embed(['a car'], 'document')).rejects.toThrow(/cannot be reached .*self-signed/)
  expect(requests).toEqual([])
})

it('a refusal is repeated without the key', async () => {
  const server = await startEmbeddingServer()
  server.override(answerWith(401, `wrong key: ${KEY}`))
  await expect(openEmbedder(server).embed(['a car'], 'document')).rejects.toThrow('answers with 401: wrong key: …')
})

it('a query waits five seconds for an answer, and the next ones not at all', async () => {
  const server = await startEmbeddingServer()
  const release = server.holdFrom(1)
  const clock = manualClock()
  const embedder = openEmbedder(server, clock)
  const late = expect(embedder.embed(['a car'], 'query')).rejects.toThrow('it does not answer in time')
  await server.received(1)
  await clock.advance(5_000)
  await late
  await expect(embedder.embed(['a ship'], 'query')).rejects.toThrow('it does not answer in time')
  expect(server.requests).toHaveLength(1)
  release()
  await clock.advance(30_000)
  expect(await embedder.embed(['a ship'], 'query')).toHaveLength(1)
})

it('a search without an answer of the endpoint matches terms, and says why', async () => {
  const server = await startEmbeddingServer()
  const { client, library } = await startLibrary({ embedder: server.choice(), embedding: { calmMs: 0 } })
  const id = await client.createLibrary()
  const surgeon = await client.uploaded(id, { name: 'a.txt', content: 'The surgeon earns wages.' })
  await library.settled()
  server.override(answerWith(503, 'busy'))
  const { json } = await client.get('/search/resources?query=wages+of+zoologists')
  const { notice, results } = searchResponse.parse(json)
  expect(results.map(({ resource }) => resource.id)).toEqual([surgeon])
  expect(notice).toContain('Only terms were matched: the embedding service answers with 503: busy.')
})

it('a text that the endpoint refuses gets no vector, all others do', async () => {
  const server = await startEmbeddingServer()
  server.override(({ texts }, response) =>
    texts.some((each) => each.includes('vessel')) ? response.writeHead(400).end('too long') : undefined,
  )
  const { client, library } = await startLibrary({ embedder: server.choice(), embedding: { calmMs: 0 } })
  const id = await client.createLibrary()
  const paragraphs = ['surgeon', 'vessel', 'vehicle'].map((word) => `The ${word} of today. `.repeat(28))
  await client.uploaded(id, { name: 'a.txt', content: paragraphs.join('\n\n') })
  await library.settled()
  const { json } = await client.get('/search/resources?query=doctor+car+tomorrow')
  expect(searchResponse.parse(json).results).toHaveLength(1)
  expect(searchResponse.parse(json).notice).not.toContain('all but')
})
