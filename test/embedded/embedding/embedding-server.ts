import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { EmbedderChoice } from '../../../src/embedded/embedding/semantics.ts'
import { CONCEPTS } from './concepts.ts'

const requestShape = z.object({ model: z.string(), input: z.array(z.string()) })

export interface EmbeddingRequest {
  readonly model: string
  readonly texts: readonly string[]
  readonly authorization: string | undefined
}

/** Answers in place of the model; undefined lets the model answer. */
type Override = (request: EmbeddingRequest, response: ServerResponse) => unknown

/** An OpenAI-compatible service over HTTP, with a model of four concepts. */
export interface EmbeddingServer {
  readonly url: string
  readonly requests: readonly EmbeddingRequest[]
  /** All texts that were sent to it, in their order. */
  texts(): string[]
  override(answer: Override | undefined): void
  /** Holds back the answers to all requests from this one on, counted from 1; the returned function lets them go. */
  holdFrom(request: number): () => void
  /** Resolves when `count` requests have arrived. */
  received(count: number): Promise<void>
  /** As the configuration names it. */
  choice(more?: { readonly model?: string; readonly key?: string }): EmbedderChoice
}

export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = []
  const waiting: { count: number; resolve(): void }[] = []
  let override: Override | undefined
  let held: { readonly from: number; readonly released: Promise<void> } | undefined
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming)
    const count = requests.push(request)
    for (const { count: wanted, resolve } of waiting) if (count >= wanted) resolve()
    if (held && count >= held.from) await held.released
    if (override?.(request, response) === undefined) response.end(JSON.stringify(answerTo(request)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const address = z.object({ port: z.int() }).parse(server.address())
  const url = `http://127.0.0.1:${address.port}/v1/embeddings`
  return {
    url,
    requests,
    texts: () => requests.flatMap(({ texts }) => texts),
    override: (answer) => {
      override = answer
    },
    holdFrom: (from) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = { from, released: promise }
      return () => {
        held = undefined
        resolve()
      }
    },
    received: async (count) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count, resolve })
      if (requests.length >= count) resolve()
      await promise
    },
    choice: (more) => ({ kind: 'endpoint', url, model: 'concepts', ...more }),
  }
}

async function readRequest(incoming: IncomingMessage): Promise<EmbeddingRequest> {
  const { model, input } = requestShape.parse(JSON.parse(await text(incoming)))
  return { model, texts: input, authorization: incoming.headers.authorization }
}

/** The last vector first: `index` says which text it is of. */
function answerTo({ model, texts }: EmbeddingRequest) {
  const data = texts.map((each, index) => ({ object: 'embedding', index, embedding: vectorOf(each) }))
  return { object: 'list', model, data: data.reverse() }
}

function vectorOf(input: string): number[] {
  const words = input.toLowerCase().match(/\p{L}+/gu) ?? []
  return [0.01, ...CONCEPTS.map((concept) => words.filter((word) => concept.includes(word)).length)]
}
