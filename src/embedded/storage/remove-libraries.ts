import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { SpaceReclaim } from '../database/reclaim-space.ts'
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

/**
 * Removes what belongs to deleted libraries and gives its room back to the disk, beside requests: in small transactions
 * with time for others between them. What a stop leaves is removed after the next start.
 */
export interface LibraryRemoval {
  /** Reports that a library may have been deleted. */
  wake(): void
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
  stop(): Promise<void>
}

// Others come first.
const STEP_DELAY_MS = 5
const RETRY_MS = 5_000

export function openLibraryRemoval(spec: LibraryRemovalSpec): LibraryRemoval {
  const { clock, logger, space } = spec
  const stopping = new AbortController()
  const { signal } = stopping
  let working: Promise<void> | undefined
  let isWoken = false
  const wait = () => clock.sleep(STEP_DELAY_MS, signal)
  const work = async () => {
    while (isWoken && !signal.aborted) {
      isWoken = false
      try {
        const removedPassages = await removeAll(spec, wait)
        if (removedPassages > 0 && space.isIndexStale(removedPassages)) await mergeIndex(spec, wait)
        if (removedPassages > 0 || space.isNeeded()) await cutFile(spec, wait)
      } catch (error) {
        if (signal.aborted) break
        logger.error('Cannot continue to remove deleted libraries; trying again', { error: messageOf(error) })
        await clock.sleep(RETRY_MS, signal).catch(() => {})
        isWoken = true
      }
    }
    working = undefined
  }
  return {
    wake: () => {
      isWoken = true
      working ??= work()
    },
    settled: async () => {
      while (working) await working
    },
    stop: async () => {
      stopping.abort(new InterruptedError())
      await working
    },
  }
}

type Wait = () => Promise<void>

/** Returns how many passages it removed. */
async function removeAll({ tables, writes, files, pictures }: LibraryRemovalSpec, wait: Wait): Promise<number> {
  let removedPassages = 0
  for (let id = tables.deletedLibraries.next(); id !== undefined; id = tables.deletedLibraries.next()) {
    const libraryId = id
    const { contents, passageCount } = await writes.write(() => tables.deletedLibraries.removePiece(libraryId))
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
