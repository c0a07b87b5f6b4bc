import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { SpaceReclaim } from '../database/reclaim-space.ts'
import { openBackgroundWork } from './background-work.ts'
import type { FileStore } from './file-store.ts'
import type { PictureCache } from './picture-cache.ts'
import type { WriteQueue } from './write-queue.ts'

export interface LibraryRemovalSpec {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly files: FileStore
  readonly pictures: Pick<PictureCache, 'remove'>
  readonly space: SpaceReclaim
  readonly logger: Logger
  readonly clock: Clock
}

/** The pause between two steps, in which requests can write. */
const STEP_DELAY_MS = 5
const MAX_STEP_MS = 10

const MESSAGES = {
  fault: 'Cannot continue to remove deleted libraries; trying again',
  recovery: 'Removing deleted libraries continues',
}

export type LibraryRemoval = ReturnType<typeof openLibraryRemoval>

/**
 * Removes the data of deleted libraries and frees its disk space, in small transactions with pauses in which requests can write. If it
 * is stopped, it continues after the next start.
 */
export function openLibraryRemoval(spec: LibraryRemovalSpec) {
  const { clock, logger, space } = spec
  const stopping = new AbortController()
  const { signal } = stopping
  const wait = () => clock.sleep(STEP_DELAY_MS, signal)
  const run = async () => {
    const removedPassages = await removeAll(spec, wait)
    if (removedPassages > 0 && space.isIndexStale(removedPassages)) await mergeIndex(spec, wait)
    if (removedPassages > 0 || space.isNeeded()) await cutFile(spec, wait)
  }
  const work = openBackgroundWork({ logger, clock, signal, messages: MESSAGES, run })
  return {
    ...work,
    stop: async () => {
      stopping.abort(new InterruptedError())
      await work.settled()
    },
  }
}

type Wait = () => Promise<void>

/** Removes all deleted libraries; returns the number of removed passages. */
async function removeAll({ tables, writes, files, pictures, clock }: LibraryRemovalSpec, wait: Wait): Promise<number> {
  let removedPassages = 0
  const removePiece = (libraryId: number) => {
    const endMs = clock.monotonicMs() + MAX_STEP_MS
    return tables.deletedLibraries.removePiece(libraryId, () => clock.monotonicMs() >= endMs)
  }
  for (let id = tables.deletedLibraries.next(); id !== undefined; id = tables.deletedLibraries.next()) {
    const libraryId = id
    const { unused, passageCount } = await writes.write(() => {
      const { contents, passageCount } = removePiece(libraryId)
      const unused = contents.filter((sha256) => !tables.resources.usesContent(sha256))
      // Before the transaction ends: if a file cannot be removed, or the process is killed, the resource remains to be removed again.
      for (const sha256 of unused) files.remove(sha256)
      return { unused, passageCount }
    })
    for (const sha256 of unused) await pictures.remove(sha256)
    removedPassages += passageCount
    await wait()
  }
  return removedPassages
}

async function mergeIndex({ writes, space }: LibraryRemovalSpec, wait: Wait): Promise<void> {
  let isFirst = true
  while (await writes.write(() => space.mergeIndex(isFirst))) {
    isFirst = false
    await wait()
  }
}

async function cutFile({ writes, space }: LibraryRemovalSpec, wait: Wait): Promise<void> {
  while (await writes.write(() => space.cutFile())) await wait()
}
