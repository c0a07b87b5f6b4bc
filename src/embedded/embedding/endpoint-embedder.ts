import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Clock } from '../../foundation/clock.ts'
import { messageOf } from '../../foundation/errors.ts'
import { openRequest } from '../../foundation/http/node-http.ts'
import { parseJson } from '../../foundation/text/parse-json.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { HOUR_MS } from '../../foundation/text/times.ts'
import { type Embedder, EmbedderError, type Vector } from './embedder.ts'

/** How long a query waits for its vector; short, because a person waits. */
const QUERY_MS = 5_000
/** How long documents wait for their vectors; long, because a local service may have to load the model first. */
const DOCUMENT_MS = 120_000
/** How long queries are not sent to the service after a failure. */
const QUIET_MS = 30_000

/**
 * Opens an embedder that calls a service. Its id has only the name of the model, so that vectors remain valid at another address. It does
 * not retry: the stage that embeds documents does so, and a search works without a vector.
 */
export function openEndpointEmbedder(endpoint: EmbeddingEndpoint, clock: Clock): Embedder {
  const stopping = new AbortController()
  let failure: { readonly error: EmbedderError; readonly untilMs: number } | undefined
  const record = (error: unknown) => {
    if (!(error instanceof EmbedderError) || error.isAboutText) return
    failure = { error, untilMs: clock.monotonicMs() + Math.max(QUIET_MS, error.retryAfterMs ?? 0) }
  }
  return {
    id: `endpoint ${endpoint.model}`,
    minSimilarity: 0,
    embed: async (texts, purpose) => {
      if (purpose === 'query' && failure && clock.monotonicMs() < failure.untilMs) throw failure.error
      const timeout = new AbortController()
      using _ = clock.startTimer(purpose === 'query' ? QUERY_MS : DOCUMENT_MS, () => timeout.abort())
      try {
        const vectors = await askEndpoint(endpoint, texts, AbortSignal.any([stopping.signal, timeout.signal]))
        failure = undefined
        return vectors
      } catch (error) {
        record(error)
        throw error
      }
    },
    stop: async () => stopping.abort(),
  }
}

/** An OpenAI-compatible service that embeds texts. */
export interface EmbeddingEndpoint {
  /** The address for requests, such as `http://localhost:11434/v1/embeddings`. */
  readonly url: string
  readonly model: string
  /** The key that is sent as bearer token; undefined if the service needs none. */
  readonly key?: string | undefined
}

const MAX_ANSWER_BYTES = 32 * 2 ** 20
const MAX_DIMENSIONS = 4_096
const MAX_QUOTED_LENGTH = 200
/** The statuses with which a service refuses texts, not the credential. */
const ABOUT_TEXT: readonly number[] = [400, 413, 422]
const MAX_RETRY_AFTER_MS = HOUR_MS

const answerShape = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(MAX_DIMENSIONS) })),
})

/** Sends one request. Throws EmbedderError. Follows no redirect, which could send the texts and the key to another host. */
async function askEndpoint(
  { url, model, key }: EmbeddingEndpoint,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Vector[]> {
  try {
    const answer = await post(
      new URL(url),
      JSON.stringify({ model, input: texts, encoding_format: 'float' }),
      key,
      signal,
    )
    const body = await readBounded(answer)
    if (!isSuccess(answer)) throw refusalOf(answer, body, key)
    return vectorsOf(body, texts.length)
  } catch (error) {
    if (error instanceof EmbedderError) throw error
    const why = signal.aborted ? 'it does not answer in time' : messageOf(error)
    throw new EmbedderError(`the embedding service ${new URL(url).origin} cannot be reached (${why})`, { cause: error })
  }
}

/** Sends a request. Unlike `fetch`, checks certificates even if the environment tells Node not to. */
function post(url: URL, body: string, key: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  const open = url.protocol === 'https:' ? process.getBuiltinModule('node:https').request : openRequest
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  }
  return new Promise((resolve, reject) => {
    const request = open(url, { method: 'POST', headers, signal, rejectUnauthorized: true }, resolve)
    request.on('error', reject).end(body)
  })
}

async function readBounded(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new EmbedderError('the answer of the embedding service is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300
}

function refusalOf(
  { statusCode: status = 0, headers }: IncomingMessage,
  body: string,
  key: string | undefined,
): EmbedderError {
  // The answer may repeat the key, which must not be shown.
  const safe = key === undefined ? body : body.replaceAll(key, '…')
  const words = escapeText(truncateText(safe.replace(/\s+/g, ' ').trim(), MAX_QUOTED_LENGTH))
  return new EmbedderError(`the embedding service answers with ${status}${words && `: ${words}`}`, {
    retryAfterMs: readRetryAfter(headers['retry-after']),
    isAboutText: ABOUT_TEXT.includes(status),
  })
}

function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const lengthMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return lengthMs > 0 ? Math.min(lengthMs, MAX_RETRY_AFTER_MS) : undefined
}

/** Returns the vectors in the order of the texts, which need not be the order of the answer. */
function vectorsOf(body: string, count: number): Vector[] {
  const malformed = (why: string) => new EmbedderError(`the embedding service gives no usable answer: ${why}`)
  const { success, data: answer } = answerShape.safeParse(parseJson(body))
  if (!success) throw malformed('it is not in the format of OpenAI')
  const vectors = answer.data.toSorted((one, other) => one.index - other.index)
  if (vectors.length !== count || vectors.some(({ index }, position) => index !== position)) {
    throw malformed(`${vectors.length} vectors for ${count} texts`)
  }
  if (vectors.some(({ embedding }) => embedding.length !== vectors[0]?.embedding.length)) {
    throw malformed('its vectors differ in length')
  }
  return vectors.map(({ embedding }) => Float32Array.from(embedding))
}
