import { z } from 'zod'
import { InterruptedError } from '../../foundation/errors.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { describeReaders } from '../optional-packages.ts'
import { openChildExtractor } from './child-process/document-reader.ts'
import { RECOGNIZING_MS } from './extraction-limits.ts'
import { ingestInChild, ingestInProcess, type StageWork } from './ingest-batches.ts'
import type { IngestParts } from './ingest-file.ts'
import { type IngestLoop, openIngestLoop } from './ingest-loop.ts'
import { readAtOnce, type SmallUpload } from './read-at-once.ts'
import { UNREAD_KINDS } from './readers/extraction.ts'
import { firstStage, NEXT_STAGE, type ReadingStage } from './reading-stages.ts'

export type IngestQueue = ReturnType<typeof openIngestQueue>

/**
 * Processes uploads in their order. The queue is the table of resources, so that it survives a restart. Documents that
 * need a parser never hold up plain text, because each stage has its own loop.
 */
export function openIngestQueue(parts: IngestParts) {
  readWithNewReaders(parts)
  const stopping = new AbortController()
  const { signal } = stopping
  const { limits, clock, files } = parts
  const setup = { limits, temporaryDir: files.temporaryDir }
  const extractor = openChildExtractor({ ...setup, recognizes: false }, clock)
  const withRecognition = { ...limits, timeMs: limits.timeMs + RECOGNIZING_MS }
  const recognizer = openChildExtractor({ ...setup, limits: withRecognition, recognizes: true }, clock)
  // Resources that an earlier stage could not read, until they have their final state. After a restart, each starts in its first
  // stage again.
  const laterStages = new Map<number, ReadingStage>()
  const stageOf = (resource: ResourceRow) => laterStages.get(resource.id) ?? firstStage(resource)
  const openLoop = (stage: ReadingStage, ingest: (batch: readonly ResourceRow[], work: StageWork) => Promise<void>) => {
    const settle = ({ id }: ResourceRow, isDone: boolean) => {
      laterStages.delete(id)
      if (isDone) return
      const next = NEXT_STAGE[stage]
      if (!next) throw new Error(`No stage follows ${stage}`)
      laterStages.set(id, next)
      loops[next].wake(id)
    }
    return openIngestLoop({
      ...parts,
      signal,
      accepts: (resource) => stageOf(resource) === stage,
      ingest: (batch) => ingest(batch, { signal, settle }),
    })
  }
  const loops: Readonly<Record<ReadingStage, IngestLoop>> = {
    service: openLoop('service', (batch, work) => ingestInProcess(parts, batch, work)),
    child: openLoop('child', (batch, work) => ingestInChild(parts, extractor, batch, work)),
    recognizer: openLoop('recognizer', (batch, work) => ingestInChild(parts, recognizer, batch, work)),
  }
  const settled = async () => {
    // A stage leaves resources to later stages only, so one pass in their order is enough.
    for (const loop of Object.values(loops)) await loop.settled()
  }
  return {
    /** Reports that there may be something to do: this upload, or any when none is given. */
    wake: (uploaded?: Pick<ResourceRow, 'mimeType' | 'sizeBytes'>) => {
      for (const loop of uploaded ? [loops[firstStage(uploaded)]] : Object.values(loops)) loop.wake()
    },
    /** Reads a small text that takes so little time that it is recorded as searchable at once; undefined when it waits for its turn. */
    readAtOnce: (upload: SmallUpload) => readAtOnce(parts, upload),
    /** Resolves when all work is done. */
    settled,
    /** Resolves when the work under way has ended; starts no new work. */
    stop: async () => {
      const reason = new InterruptedError()
      stopping.abort(reason)
      await Promise.all([extractor.stop(reason), recognizer.stop(reason)])
      await settled()
    },
  }
}

/** What the readers were at the last start, as JSON. */
const READERS = 'readers'
const readersRecord = z.object({ version: z.string(), missing: z.array(z.string()) })

/** Has documents read again that the readers of the last start could not read, and those of today perhaps can. */
function readWithNewReaders({ tables: { settings, resources } }: IngestParts): void {
  const now = describeReaders()
  const record = JSON.stringify(now)
  const recorded = settings.read(READERS)
  if (recorded === record) return
  const before = recorded === undefined ? undefined : readersRecord.parse(JSON.parse(recorded))
  for (const name of before?.missing ?? []) if (!now.missing.includes(name)) resources.readAgain(name)
  if (before && before.version !== now.version) for (const text of UNREAD_KINDS) resources.readAgain(text)
  settings.write(READERS, record)
}
