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

// Others come first.
const STEP_DELAY_MS = 5
const MAX_STEP_MS = 10

const MESSAGES = {
  fault: 'Cannot continue to remove deleted libraries; trying again',
  recovery: 'Removing deleted libraries continues',
}

export type LibraryRemoval = ReturnType<typeof openLibraryRemoval>

/**
 * Removes what belongs to deleted libraries and gives its room back to the disk, beside requests: in small transactions
 * with time for others between them. What a stop leaves is removed after the next start.
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

/** Returns how many passages it removed. */
async function removeAll({ tables, writes, files, pictures, clock }: LibraryRemovalSpec, wait: Wait): Promise<number> {
  let removedPassages = 0
  const removePiece = (libraryId: number) => {
    const endMs = clock.monotonicMs() + MAX_STEP_MS
    return tables.deletedLibraries.removePiece(libraryId, () => clock.monotonicMs() >= endMs)
  }
  for (let id = tables.deletedLibraries.next(); id !== undefined; id = tables.deletedLibraries.next()) {
    const libraryId = id
    const { contents, passageCount } = await writes.write(() => removePiece(libraryId))
    for (const sha256 of contents) {
      if (tables.resources.usesContent(sha256)) continue
      files.remove(sha256)
      await pictures.remove(sha256)
    }
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
