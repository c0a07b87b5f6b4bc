import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import { MAX_SMALL_BYTES } from './content-receiver.ts'
import type { FileStore } from './file-store.ts'

export interface ContentPackingSpec {
  readonly tables: Tables
  readonly files: FileStore
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * Compresses the contents that an earlier version stored as they were, one after the other beside requests: `contents-to-pack` is the
 * resource that is next, those before it follow. After a restart, or the start after a fault, it continues.
 */
export interface ContentPacking {
  start(): void
  /** Resolves when nothing is left to do, or with a fault. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const NEXT = 'contents-to-pack'
const BATCH = 32
// Uploads and ingestion come first.
const DELAY_MS = 5

export function openContentPacking({ tables, files, logger, clock }: ContentPackingSpec): ContentPacking {
  const { settings, resources } = tables
  const stopping = new AbortController()
  const { signal } = stopping
  let working: Promise<void> | undefined
  const packOne = async (sha256: Buffer) => {
    await files.pack(sha256, signal)
    // A request may have deleted its library meanwhile.
    if (!resources.usesContent(sha256)) files.remove(sha256)
    await clock.sleep(DELAY_MS, signal)
  }
  const packAll = async () => {
    for (let nextId = Number(settings.read(NEXT) ?? 0); nextId > 0; ) {
      const batch = resources.largeUpTo(nextId, MAX_SMALL_BYTES, BATCH)
      for (const { sha256 } of batch) await packOne(sha256)
      nextId = (batch.at(-1)?.id ?? 1) - 1
      settings.write(NEXT, String(nextId))
    }
    settings.remove(NEXT)
  }
  const work = async () => {
    try {
      await packAll()
    } catch (error) {
      if (!signal.aborted) logger.error('Cannot compress older contents', { error: messageOf(error) })
    }
  }
  return {
    start: () => {
      if (settings.read(NEXT) !== undefined) working = work()
    },
    settled: async () => await working,
    stop: async () => {
      stopping.abort(new InterruptedError())
      await working
    },
  }
}
