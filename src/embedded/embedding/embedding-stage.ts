import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { adoptEmbedder, type EmbeddingParts, embedNextChunks } from './embed-resource.ts'
import { EmbedderError } from './embedder.ts'

export const EMBEDDING_LIMITS = {
  /** Embedding starts after this time without uploads, so that a command that ends at once does not load the embedder. */
  calmMs: 2_000,
  /** A search compares all chunks: 100,000 chunks of 512 dimensions take 52 MB and 0.1 s of a core. */
  maxChunks: 100_000,
}

export type EmbeddingLimits = Readonly<typeof EMBEDDING_LIMITS>

/** How far a library is embedded. */
export interface EmbeddingProgress {
  /** How many resources are not embedded, either not yet or because the limit of chunks is reached. */
  readonly missing: number
  /** True if no more resources can be embedded. */
  readonly isDone: boolean
  /** Why the embedder gives no vectors now; undefined if it does. */
  readonly failure?: string
}

export interface EmbeddingStageSpec extends EmbeddingParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: EmbeddingLimits
  /** Resolves when no resource waits for ingestion, which comes first. */
  ingested(): Promise<void>
}

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 600_000

/** Embeds searchable resources, oldest first, while nothing is ingested. After a restart, it continues after the stored vectors. */
export function openEmbeddingStage(spec: EmbeddingStageSpec) {
  const { tables, clock, logger, limits, embedder } = spec
  const stopping = new AbortController()
  const { signal } = stopping
  let working: Promise<void> | undefined
  let requested: Promise<unknown> | undefined
  let isWoken = false
  let failures = 0
  let wokenAtMs = 0
  let chunkCount = 0
  /** Waits until nothing was uploaded for `calmMs` and nothing is ingested. */
  const waitForCalm = async () => {
    for (let waitMs = limits.calmMs; waitMs > 0; waitMs = wokenAtMs + limits.calmMs - clock.monotonicMs()) {
      await clock.sleep(waitMs, signal)
    }
    isWoken = false
    await spec.ingested()
  }
  const isFull = () => chunkCount >= limits.maxChunks
  /** Embeds some chunks of the next resource. Resolves with true if no more may be embedded. */
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
      // Vectors of another model must not be counted.
      await adoptEmbedder(spec)
      chunkCount = tables.chunkVectors.countChunks()
      for (let isDone = false; !isDone && !signal.aborted && clock.monotonicMs() < endMs; ) isDone = await embedNext()
    } catch (error) {
      failure = messageOf(error)
    }
    const missing = tables.chunkVectors.countToEmbed()
    return { missing, isDone: missing === 0 || isFull(), ...(failure !== undefined && { failure }) }
  }
  /** Waits before the next attempt, longer after each failure. Logs only the first failure of a series. */
  const waitAfter = async (error: unknown) => {
    if (failures === 0 && !signal.aborted)
      logger.warn('Cannot embed documents; trying again', { error: messageOf(error) })
    failures += 1
    const retryAfterMs = error instanceof EmbedderError ? error.retryAfterMs : undefined
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1))
    await clock.sleep(Math.max(retryAfterMs ?? 0, delayMs), signal)
  }
  const work = async () => {
    let isDone = false
    while ((isWoken || !isDone) && !signal.aborted) {
      try {
        if (isWoken) {
          await waitForCalm()
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
    /** Reports that there may be resources to embed. */
    wake: () => {
      if (signal.aborted) return
      isWoken = true
      wokenAtMs = clock.monotonicMs()
      working ??= work()
    },
    /** Embeds for at most `forMs`, also in a process that is never woken. Call it again only after it has resolved. */
    embedFor: (forMs: number) => {
      const embedding = embedUntil(clock.monotonicMs() + forMs)
      requested = embedding
      return embedding
    },
    /** Resolves when all work is done. */
    settled: async () => {
      while (working) await working
    },
    stop: async () => {
      stopping.abort(new InterruptedError())
      await embedder.stop()
      await working
      await requested
    },
  }
}
