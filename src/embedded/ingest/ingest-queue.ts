import { setTimeout as pause } from 'node:timers/promises'
import { InterruptedError, messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { FileStore } from '../storage/file-store.ts'
import { readContent } from '../storage/read-content.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import type { Tables } from '../tables/open-tables.ts'
import type { ResourceRow } from '../tables/resources.ts'
import { ingestFile } from './ingest-file.ts'
import { createPassageWriter } from './passage-writer.ts'

const MAX_BATCH_RESOURCES = 64
// Uploads that come one after the other share the transactions of their ingestion.
const GATHERING_MS = 50
const RETRY_MS = 5_000

/** Processes uploads in their order (section 3.1). The queue is the table of resources, so that a restart goes on with it. */
export interface IngestQueue {
  /** There may be something to do. */
  ring(): void
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
  /** Resolves when the work under way is over; nothing new is begun. */
  stop(): Promise<void>
}

export interface IngestParts {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly files: FileStore
  readonly logger: Logger
}

export function openIngestQueue(parts: IngestParts): IngestQueue {
  const stopping = new AbortController()
  let working: Promise<void> | undefined
  let isRung = false
  const work = async () => {
    while (isRung && !stopping.signal.aborted) {
      isRung = false
      if (await ingestAll(parts, stopping.signal)) continue
      // Such as a full disk: there may be room after a while, also when no further upload comes.
      await pause(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {})
      isRung = true
    }
    working = undefined
  }
  return {
    ring: () => {
      if (stopping.signal.aborted) return
      isRung = true
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

/** Gives false when a fault of the database itself ended the pass. */
async function ingestAll(parts: IngestParts, signal: AbortSignal): Promise<boolean> {
  try {
    do {
      await pause(GATHERING_MS, undefined, { signal })
      while ((await ingestBatch(parts, signal)) === MAX_BATCH_RESOURCES);
    } while (parts.tables.resources.toIngest(1).length > 0)
    return true
  } catch (error) {
    if (!signal.aborted) parts.logger.error('Ingestion could not go on', { error: messageOf(error) })
    return false
  }
}

/** How many resources there were to ingest. */
async function ingestBatch({ tables, writes, files }: IngestParts, signal: AbortSignal): Promise<number> {
  const batch = tables.resources.toIngest(MAX_BATCH_RESOURCES)
  if (batch.length === 0) return 0
  await writes.write(() => {
    for (const { id, status } of batch) if (status !== 'running') tables.resources.start(id)
  })
  const writer = createPassageWriter(writes, tables, signal)
  for (const resource of batch) {
    await ingestFile(resource, () => openChunks(tables, files, resource), writer)
    await writer.drain()
  }
  await writer.commit()
  return batch.length
}

function openChunks(tables: Tables, files: FileStore, resource: ResourceRow): Iterable<Buffer> | AsyncIterable<Buffer> {
  const content = readContent(tables, files, resource)
  return Buffer.isBuffer(content) ? [content] : content
}
