import type { Clock } from '../../../foundation/clock.ts'
import { keepWrappersUncompiled } from '../../../foundation/concurrency/thread-entry.ts'
import { type Embedder, EmbedderError } from '../embedder.ts'
import { askEndpoint, type EmbeddingEndpoint } from './ask-endpoint.ts'

/** A person waits. */
const QUERY_MS = 5_000
/** A model on this machine may have to be loaded first. */
const DOCUMENT_MS = 120_000
/** After a failure, searches don't wait for the service during this time. */
const QUIET_MS = 30_000

/**
 * Embeds by a service; the vectors are kept as long as its model has the same name, also at another address. It is asked once:
 * whoever embeds documents tries again, and a search does without.
 */
export function openEndpointEmbedder(endpoint: EmbeddingEndpoint, clock: Clock): Embedder {
  keepWrappersUncompiled()
  const stopping = new AbortController()
  let failure: { readonly error: EmbedderError; readonly untilMs: number } | undefined
  const record = (error: unknown) => {
    if (!(error instanceof EmbedderError) || error.isAboutText) return
    failure = { error, untilMs: clock.monotonicMs() + Math.max(QUIET_MS, error.retryAfterMs ?? 0) }
  }
  return {
    identify: async () => `endpoint ${endpoint.model}`,
    minSimilarity: 0,
    embed: async (texts, purpose) => {
      if (purpose === 'query' && failure && clock.monotonicMs() < failure.untilMs) throw failure.error
      const late = new AbortController()
      using _ = clock.startTimer(purpose === 'query' ? QUERY_MS : DOCUMENT_MS, () => late.abort())
      try {
        const vectors = await askEndpoint(endpoint, texts, AbortSignal.any([stopping.signal, late.signal]))
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
