import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { adoptEmbedder, type EmbeddingParts, embedNextChunks } from './embed-resource.ts'
import { EmbedderError } from './embedder.ts'

export const EMBEDDING_LIMITS = {
  /** The embedder is loaded when nothing was uploaded for this time: a command that ends at once never loads it. */
  calmMs: 2_000,
  /** A search compares all chunks, 100,000 of 512 dimensions in 0.1 s of a core; they take 52 MB. */
  maxChunks: 100_000,
}

export type EmbeddingLimits = Readonly<typeof EMBEDDING_LIMITS>

/** How far a library is embedded. */
export interface EmbeddingProgress {
  /** The number of resources that have no vectors yet, or will have none because there are too many. */
  readonly missing: number
  /** False while more can be embedded. */
  readonly isDone: boolean
  /** Why the embedder gives no vectors now. */
  readonly failure?: string
}

export interface EmbeddingStageSpec extends EmbeddingParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: EmbeddingLimits
  /** Resolves when nothing is left that comes first. */
  ingested(): Promise<void>
}

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 600_000

/**
 * Embeds what is searchable already, the oldest resource first, while nothing is ingested: no state of a resource waits for it. What
 * is stored says where it continues after a restart.
 */
export function openEmbeddingStage(spec: EmbeddingStageSpec) {
  const { tables, clock, logger, limits, embedder } = spec
  const stopping = new AbortController()
  const { signal } = stopping
  let working: Promise<void> | undefined
  let asked: Promise<unknown> | undefined
  let isWoken = false
  let failures = 0
  let wokenAtMs = 0
  let chunkCount = 0
  /** Waits until nothing comes any more and nothing is ingested. */
  const calm = async () => {
    for (let leftMs = limits.calmMs; leftMs > 0; leftMs = wokenAtMs + limits.calmMs - clock.monotonicMs()) {
      await clock.sleep(leftMs, signal)
    }
    isWoken = false
    await spec.ingested()
  }
  const isFull = () => chunkCount >= limits.maxChunks
  /** True when nothing is left that may be embedded. */
  const embedNext = async () => {
    if (await adoptEmbedder(spec)) chunkCount = 0
    const resourceId = tables.chunkVectors.nextToEmbed()
    if (resourceId === undefined || isFull()) return true
    chunkCount += await embedNextChunks(spec, resourceId)
    if (failures > 0) logger.info('Embedding continues')
    failures = 0
    return false
  }
  const embedUntil = async (endMs: number): Promise<EmbeddingProgress> => {
    let failure: string | undefined
    try {
      // Otherwise the vectors of another model would count.
      await adoptEmbedder(spec)
      chunkCount = tables.chunkVectors.countChunks()
      for (let isDone = false; !isDone && !signal.aborted && clock.monotonicMs() < endMs; ) isDone = await embedNext()
    } catch (error) {
      failure = messageOf(error)
    }
    const missing = tables.chunkVectors.countToEmbed()
    return { missing, isDone: missing === 0 || isFull(), ...(failure !== undefined && { failure }) }
  }
  /** Logs a lasting fault once. */
  const waitAfter = async (error: unknown) => {
    if (failures === 0 && !signal.aborted)
      logger.warn('Cannot embed documents; trying again', { error: messageOf(error) })
    failures += 1
    const asked = error instanceof EmbedderError ? error.retryAfterMs : undefined
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1))
    await clock.sleep(Math.max(asked ?? 0, delayMs), signal)
  }
  const work = async () => {
    let isDone = false
    while ((isWoken || !isDone) && !signal.aborted) {
      try {
        if (isWoken) {
          await calm()
          chunkCount = tables.chunkVectors.countChunks()
        }
        isDone = await embedNext()
      } catch (error) {
        isDone = false
        await waitAfter(error).catch(() => {})
      }
    }
    working = undefined
  }
  return {
    /** Reports that there may be something to do. */
    wake: () => {
      if (signal.aborted) return
      isWoken = true
      wokenAtMs = clock.monotonicMs()
      working ??= work()
    },
    /** Embeds for this time at most, also in a process that does not embed by itself. Call it again only when it has resolved. */
    embedFor: (forMs: number) => {
      const embedding = embedUntil(clock.monotonicMs() + forMs)
      asked = embedding
      return embedding
    },
    /** Counts the resources that have no vectors yet, or will have none because there are too many. */
    countMissing: () => tables.chunkVectors.countToEmbed(),
    /** Returns whether nothing is embedded, also when there is nothing to embed. */
    isEmpty: () => tables.chunkVectors.isEmpty(),
    /** Resolves when all work is done. */
    settled: async () => {
      while (working) await working
    },
    stop: async () => {
      stopping.abort(new InterruptedError())
      await embedder.stop()
      await working
      await asked
    },
  }
}
