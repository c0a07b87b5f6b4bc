import type { Clock } from '../../foundation/clock.ts'
import { InterruptedError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/tables/resources.ts'
import type { FileStore } from '../storage/file-store.ts'
import type { WriteQueue } from '../storage/write-queue.ts'
import { openChildExtractor } from './child-process/child-extractor.ts'
import type { ExtractionLimits } from './extraction-limits.ts'
import { ingestApart, ingestHere, isReadHere } from './ingest-batches.ts'
import { openLane } from './ingest-loop.ts'

/** Processes uploads in their order (section 3.1). The queue is the table of resources, so that a restart goes on with it. */
export interface IngestQueue {
  /** There may be something to do: for this upload, or for any. */
  ring(uploaded?: Pick<ResourceRow, 'mimeType' | 'sizeBytes'>): void
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
  readonly clock: Clock
  readonly limits: ExtractionLimits
}

/** Documents that need a parser never hold up plain text: each kind has a lane of its own through the table. */
export function openIngestQueue(parts: IngestParts): IngestQueue {
  const stopping = new AbortController()
  const { signal } = stopping
  const extractor = openChildExtractor(parts.limits, parts.clock)
  const here = openLane({
    ...parts,
    signal,
    accepts: isReadHere,
    ingest: (batch) => ingestHere(parts, batch, signal),
  })
  const apart = openLane({
    ...parts,
    signal,
    accepts: (resource) => !isReadHere(resource),
    ingest: (batch) => ingestApart(parts, extractor, batch, signal),
  })
  const settled = async () => {
    for (const lane of [here, apart]) await lane.settled()
  }
  return {
    ring: (uploaded) => {
      if (!uploaded || isReadHere(uploaded)) here.ring()
      if (!uploaded || !isReadHere(uploaded)) apart.ring()
    },
    settled,
    stop: async () => {
      const reason = new InterruptedError()
      stopping.abort(reason)
      await extractor.stop(reason)
      await settled()
    },
  }
}
