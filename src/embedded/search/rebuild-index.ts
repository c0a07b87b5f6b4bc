import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { PassageToIndex } from '../database/tables/passages.ts'
import type { WriteQueue } from '../storage/write-queue.ts'

export interface IndexRebuildSpec {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Indexes the passages that a migration of the search index left, and compresses what an earlier version stored of them as it
 * was: `index-rebuild-end` names the last one, `index-rebuilt-to` how far it has come. It works beside requests, in small
 * transactions, and continues after a restart.
 */
export interface IndexRebuild {
  start(): void
  /** The share of passages that is done, 0 to 1; undefined when nothing is left. */
  progress(): number | undefined
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const END = 'index-rebuild-end'
const REACHED = 'index-rebuilt-to'
const BATCH = 32
// Uploads and ingestion come first.
const BATCH_DELAY_MS = 5
const RETRY_MS = 5_000

export function openIndexRebuild(spec: IndexRebuildSpec): IndexRebuild {
  const { tables, clock, logger } = spec
  const stopping = new AbortController()
  const lastId = Number(tables.settings.read(END) ?? 0)
  let reachedId = Number(tables.settings.read(REACHED) ?? 0)
  let isDone = lastId === 0
  let working: Promise<void> | undefined
  const work = async () => {
    logger.info('Rebuilding the search index; until that is done, searches may miss older documents')
    while (!isDone && !stopping.signal.aborted) {
      try {
        const next = await indexNext(spec, reachedId, lastId)
        isDone = next === undefined
        reachedId = next ?? lastId
        await clock.sleep(BATCH_DELAY_MS, stopping.signal)
      } catch (error) {
        if (stopping.signal.aborted) return
        logger.error('Cannot continue the search index; trying again', { error: messageOf(error) })
        await clock.sleep(RETRY_MS, stopping.signal).catch(() => {})
      }
    }
  }
  return {
    start: () => {
      if (!isDone) working = work()
    },
    progress: () => (isDone ? undefined : reachedId / lastId),
    settled: async () => await working,
    stop: async () => {
      stopping.abort(new InterruptedError())
      await working
    },
  }
}

/** Returns the id of the last passage that is indexed now; undefined when none was left. */
async function indexNext({ tables, writes }: IndexRebuildSpec, afterId: number, lastId: number) {
  const passages = tables.passages.toIndex(afterId, lastId, BATCH)
  const reachedId = passages.at(-1)?.id
  const rows = await wordsOf(passages)
  await writes.write(() => {
    for (const { passage, words } of rows) {
      // A request may have deleted the library meanwhile.
      if (!tables.passages.isOf(passage.id, passage.resourceId)) continue
      tables.passageWords.remove(passage.id)
      tables.passageWords.insert(passage.id, passage.libraryId, words)
      if (passage.isUnpacked) tables.passages.pack(passage)
      if (passage.ordinal === 0) tables.smallContents.pack(passage.resourceId)
    }
    if (reachedId !== undefined) tables.settings.write(REACHED, String(reachedId))
    else for (const name of [END, REACHED]) tables.settings.remove(name)
  })
  return reachedId
}

async function wordsOf(passages: readonly PassageToIndex[]) {
  const { indexWords } = await import('../analysis/index-words.ts')
  return passages.map((passage) => {
    const isFirst = passage.ordinal === 0
    return { passage, words: indexWords(isFirst ? passage.title : '', passage.text, isFirst) }
  })
}
