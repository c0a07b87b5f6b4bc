import type { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import type { Clock, Timer } from '../../foundation/clock.ts'
import { callThread, ThreadEndedError } from '../../foundation/concurrency/thread-calls.ts'
import { keepWrappersUncompiled, optimizeWebAssembly } from '../../foundation/concurrency/thread-entry.ts'
import { endThread, startThread } from '../../foundation/concurrency/threads.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { TextToEmbed } from './answer-texts.ts'
import { type Embedder, EmbedderError, type EmbeddingPurpose, type Vector } from './embedder.ts'

export interface EmbedderThreadSpec {
  /** Its entry, which calls `answerTexts`. */
  readonly entry: URL
  readonly data?: unknown
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

export function openEmbedderThread({ entry, data, owner, clock, logger }: EmbedderThreadSpec): EmbedderThread {
  // Text by text, so that a query never waits for more than one chunk of a document.
  const queue = new PQueue({ concurrency: 1 })
  let worker: Worker | undefined
  let idle: Timer | undefined
  let isStopped = false
  const start = () => {
    keepWrappersUncompiled()
    optimizeWebAssembly()
    const started = startThread(entry, { name: 'embedder', data })
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
    // Its error was logged already.
    if (ending) await endThread(ending).catch(() => {})
  }
  const askNext = async (text: string, purpose: EmbeddingPurpose) => {
    if (isStopped) throw new EmbedderError('the service is stopping')
    idle?.[Symbol.dispose]()
    worker ??= start()
    try {
      return await embedOne(worker, { text, purpose }, owner)
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

async function embedOne(worker: Worker, input: TextToEmbed, owner: string): Promise<Vector | undefined> {
  try {
    return (await callThread<TextToEmbed, Vector | null>(worker, input)) ?? undefined
  } catch (error) {
    const hasEnded = error instanceof ThreadEndedError
    throw new EmbedderError(hasEnded ? `the thread of ${owner} has ended` : `${owner} failed: ${messageOf(error)}`)
  }
}
