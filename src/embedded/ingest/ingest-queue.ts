import { InterruptedError } from '../../foundation/errors.ts'
import type { ResourceRow } from '../database/tables/resources.ts'
import { openChildExtractor } from './child-process/child-extractor.ts'
import { ingestInChild, ingestInProcess, isReadInProcess } from './ingest-batches.ts'
import { openIngestLoop } from './ingest-loop.ts'
import type { IngestParts } from './ingest-parts.ts'

/** Processes uploads in their order (section 3.1). The queue is the table of resources, so that it survives a restart. */
export interface IngestQueue {
  /** Reports that there may be something to do: this upload, or any when none is given. */
  wake(uploaded?: Pick<ResourceRow, 'mimeType' | 'sizeBytes'>): void
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
  /** Resolves when the work under way has ended; starts no new work. */
  stop(): Promise<void>
}

/** Documents that need a parser never hold up plain text, because a second loop reads them. */
export function openIngestQueue(parts: IngestParts): IngestQueue {
  const stopping = new AbortController()
  const { signal } = stopping
  const extractor = openChildExtractor(parts.limits, parts.clock)
  const inProcess = openIngestLoop({
    ...parts,
    signal,
    accepts: isReadInProcess,
    ingest: (batch) => ingestInProcess(parts, batch, signal),
  })
  const inChild = openIngestLoop({
    ...parts,
    signal,
    accepts: (resource) => !isReadInProcess(resource),
    ingest: (batch) => ingestInChild(parts, extractor, batch, signal),
  })
  const settled = async () => {
    for (const loop of [inProcess, inChild]) await loop.settled()
  }
  return {
    wake: (uploaded) => {
      if (!uploaded || isReadInProcess(uploaded)) inProcess.wake()
      if (!uploaded || !isReadInProcess(uploaded)) inChild.wake()
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
