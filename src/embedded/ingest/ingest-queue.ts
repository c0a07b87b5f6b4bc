import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { InterruptedError } from '../../foundation/errors.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { describeReaders } from '../optional-packages.ts'
import { openBackgroundWork } from '../storage/background-work.ts'
import { openChildExtractor } from './child-process/document-reader.ts'
import { RECOGNIZING_MS } from './extraction-limits.ts'
import {
  firstStage,
  type IngestParts,
  ingestInChild,
  ingestInProcess,
  NEXT_STAGE,
  type ReadingStage,
  readAtOnce,
  type SmallUpload,
  type StageWork,
} from './ingest-file.ts'
import { UNREAD_KINDS } from './readers/extraction.ts'

export type IngestQueue = ReturnType<typeof openIngestQueue>

/**
 * Processes uploads, oldest first. The table of resources is the queue, so that it survives a restart. Each stage has a loop of its
 * own, so that plain text never waits for documents that need a parser.
 */
export function openIngestQueue(parts: IngestParts) {
  requeueForNewReaders(parts)
  const stopping = new AbortController()
  const { signal } = stopping
  const { limits, clock, files } = parts
  const setup = { limits, temporaryDir: files.temporaryDir }
  const extractor = openChildExtractor({ ...setup, recognizes: false }, clock)
  const withRecognition = { ...limits, timeMs: limits.timeMs + RECOGNIZING_MS }
  const recognizer = openChildExtractor({ ...setup, limits: withRecognition, recognizes: true }, clock)
  // The stage of each resource that an earlier stage could not read and that has no final state yet. It is not stored: after a
  // restart, each resource starts in its first stage again.
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
    // A stage passes resources only to later stages, so it is enough to wait for each loop once, in the order of the stages.
    for (const loop of Object.values(loops)) await loop.settled()
  }
  return {
    /** Wakes the loop that reads this upload; without an upload, wakes all loops. */
    wake: (uploaded?: Pick<ResourceRow, 'mimeType' | 'sizeBytes'>) => {
      for (const loop of uploaded ? [loops[firstStage(uploaded)]] : Object.values(loops)) loop.wake()
    },
    /** Reads a small text, so that it is searchable as soon as it is recorded; undefined if the upload has to wait in the queue. */
    readAtOnce: (upload: SmallUpload) => readAtOnce(parts, upload),
    /** Resolves when all work is done. */
    settled,
    /** Starts no new work, and resolves when the current work has ended. */
    stop: async () => {
      const reason = new InterruptedError()
      stopping.abort(reason)
      await Promise.all([extractor.stop(reason), recognizer.stop(reason)])
      await settled()
    },
  }
}

const MAX_BATCH_RESOURCES = 64
// Uploads that arrive within this time share the transactions of their ingestion.
const BATCH_DELAY_MS = 50

interface IngestLoopSpec extends Pick<IngestParts, 'tables' | 'logger' | 'clock'> {
  readonly signal: AbortSignal
  accepts(resource: ResourceRow): boolean
  /** Ingests resources, or passes them to the next stage. Throws on a fault of the service itself, such as a full disk. */
  ingest(batch: readonly ResourceRow[]): Promise<void>
}

type IngestLoop = ReturnType<typeof openIngestLoop>

/**
 * Opens a loop that ingests resources of the table. Each time it is woken:
 * 1. it waits BATCH_DELAY_MS, so that more uploads arrive;
 * 2. it ingests all resources that it accepts, oldest first, in batches of MAX_BATCH_RESOURCES;
 * 3. if ingestion fails, it starts again after a delay with the oldest resource.
 */
function openIngestLoop(spec: IngestLoopSpec) {
  const { clock, signal, tables, accepts } = spec
  // Every resource up to this row id has its final state or belongs to another loop.
  let doneId = 0
  // The lowest id of the resources that another loop passed to this one since the last read.
  let fromOtherLoopId = Number.POSITIVE_INFINITY
  /** Returns how many resources it read, including those that it does not accept. */
  const ingestNext = async () => {
    const afterId = Math.min(doneId, fromOtherLoopId - 1)
    fromOtherLoopId = Number.POSITIVE_INFINITY
    const rows = tables.resources.toIngest(afterId, MAX_BATCH_RESOURCES)
    const batch = rows.filter(accepts)
    // If all of them belong to another loop, requests are answered before the next step.
    await (batch.length === 0 ? setImmediate() : spec.ingest(batch))
    doneId = rows.at(-1)?.id ?? afterId
    return rows.length
  }
  const ingestAll = async () => {
    try {
      do {
        await clock.sleep(BATCH_DELAY_MS, signal)
        while ((await ingestNext()) === MAX_BATCH_RESOURCES);
      } while (tables.resources.toIngest(doneId, 1).length > 0)
    } catch (error) {
      doneId = 0
      throw error
    }
  }
  const messages = { fault: 'Cannot continue ingestion; trying again', recovery: 'Ingestion continues' }
  const { wake, settled } = openBackgroundWork({ ...spec, messages, run: ingestAll })
  return {
    /** Starts the loop for new uploads, or for this resource, which another loop passed to it. */
    wake: (resourceId = Number.POSITIVE_INFINITY) => {
      fromOtherLoopId = Math.min(fromOtherLoopId, resourceId)
      wake()
    },
    settled,
  }
}

/** The setting that describes the readers of the last start, as JSON. */
const READERS = 'readers'
const readersRecord = z.object({ version: z.string(), missing: z.array(z.string()) })

/** Puts documents back into the queue that the readers of the last start could not read, if the readers have changed since. */
function requeueForNewReaders({ tables: { settings, resources } }: IngestParts): void {
  const now = describeReaders()
  const record = JSON.stringify(now)
  const recorded = settings.read(READERS)
  if (recorded === record) return
  const before = recorded === undefined ? undefined : readersRecord.parse(JSON.parse(recorded))
  for (const name of before?.missing ?? []) if (!now.missing.includes(name)) resources.readAgain(name)
  if (before && before.version !== now.version) for (const text of UNREAD_KINDS) resources.readAgain(text)
  settings.write(READERS, record)
}
