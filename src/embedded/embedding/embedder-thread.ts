import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import type { Clock, Timer } from '../../foundation/clock.ts'
import { askThread } from '../../foundation/concurrency/ask-thread.ts'
import { keepWrappersUncompiled, optimizeWebAssembly } from '../../foundation/concurrency/thread-entry.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { type Embedder, EmbedderError, type EmbeddingPurpose, type Vector } from './embedder.ts'
import { type EmbedCall, embedAnswered } from './embedder-messages.ts'

export interface EmbedderThreadSpec {
  /** Its entry, which calls `answerTexts`. */
  readonly entry: URL
  readonly workerData?: unknown
  /** Whose thread it is, in messages, such as "the offline embedder". */
  readonly owner: string
  readonly clock: Clock
  readonly logger: Logger
}

/** A model in a thread of its own at a low priority, which starts with the first text and ends after IDLE_MS without any. */
export interface EmbedderThread extends Pick<Embedder, 'embed' | 'stop'> {
  /** Ends the thread after the text under way, so that the next one loads the model anew. */
  reload(): Promise<void>
}

/** A model takes hundreds of megabytes. */
const IDLE_MS = 30_000

const PRIORITY = { document: 0, query: 1, reload: 2 } as const

export function openEmbedderThread({ entry, workerData, owner, clock, logger }: EmbedderThreadSpec): EmbedderThread {
  // Text by text, so that a query never waits for more than one chunk of a document.
  const queue = new PQueue({ concurrency: 1 })
  let worker: Worker | undefined
  let idle: Timer | undefined
  let callCount = 0
  let isStopped = false
  const start = () => {
    keepWrappersUncompiled()
    optimizeWebAssembly()
    const started = new Worker(entry, { name: 'embedder', workerData })
    started.unref()
    const forget = () => {
      if (worker === started) worker = undefined
    }
    // A thread that has failed takes no more texts, also before it is gone.
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
    await ending?.terminate()
  }
  const askNext = async (text: string, purpose: EmbeddingPurpose) => {
    if (isStopped) throw new EmbedderError('the service is stopping')
    idle?.[Symbol.dispose]()
    worker ??= start()
    callCount += 1
    try {
      return await ask(worker, { call: callCount, text, purpose }, owner)
    } finally {
      if (!isStopped) idle = clock.startTimer(IDLE_MS, () => void end())
    }
  }
  return {
    embed: (texts, purpose) =>
      Promise.all(texts.map((text) => queue.add(() => askNext(text, purpose), { priority: PRIORITY[purpose] }))),
    reload: () => queue.add(end, { priority: PRIORITY.reload }),
    stop: async () => {
      isStopped = true
      await end()
      await queue.onIdle()
    },
  }
}

function ask(worker: Worker, call: EmbedCall, owner: string): Promise<Vector | undefined> {
  return askThread(worker, call, {
    read: (message) => {
      const answered = embedAnswered.parse(message)
      if (answered.call !== call.call) return undefined
      if (answered.kind === 'embedded') return { answer: answered.vector ?? undefined }
      throw new EmbedderError(`${owner} failed: ${answered.error}`)
    },
    ended: () => new EmbedderError(`the thread of ${owner} has ended`),
  })
}
