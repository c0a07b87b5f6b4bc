import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../foundation/clock.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/resources.ts'

const MAX_BATCH_RESOURCES = 64
// Waiting this long lets uploads that follow each other share the transactions of their ingestion.
const BATCH_DELAY_MS = 50
const RETRY_MS = 5_000

export interface IngestLoopSpec {
  readonly tables: Tables
  readonly logger: Logger
  readonly clock: Clock
  readonly signal: AbortSignal
  accepts(resource: ResourceRow): boolean
  /** Takes resources to their final states; throws when a fault of the service itself (such as a full disk) prevents that. */
  ingest(batch: readonly ResourceRow[]): Promise<void>
}

/**
 * One consumer of the table of resources. Each time it is woken:
 * 1. it waits BATCH_DELAY_MS, so that uploads gather;
 * 2. it ingests the resources that it accepts, oldest first, in batches of MAX_BATCH_RESOURCES, until none is left;
 * 3. if that fails, it waits RETRY_MS and starts again with the oldest resource.
 */
export interface IngestLoop {
  /** Reports that there may be something to do: new uploads, or this resource, which another loop left to this one. */
  wake(resourceId?: number): void
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
}

export function openIngestLoop(spec: IngestLoopSpec): IngestLoop {
  const { clock, signal, logger, tables, accepts } = spec
  let working: Promise<void> | undefined
  let isWoken = false
  let isFaulty = false
  // Every resource up to this row id has its final state, or belongs to another loop.
  let doneId = 0
  let fromOtherLoopId = Number.POSITIVE_INFINITY
  /** Returns how many resources it read, including those that it does not accept. */
  const ingestNext = async () => {
    const afterId = Math.min(doneId, fromOtherLoopId - 1)
    fromOtherLoopId = Number.POSITIVE_INFINITY
    const rows = tables.resources.toIngest(afterId, MAX_BATCH_RESOURCES)
    const batch = rows.filter(accepts)
    // Skipping the resources of another loop must not hold up requests.
    await (batch.length === 0 ? setImmediate() : spec.ingest(batch))
    doneId = rows.at(-1)?.id ?? afterId
    return rows.length
  }
  const ingestAll = async () => {
    do {
      await clock.sleep(BATCH_DELAY_MS, signal)
      while ((await ingestNext()) === MAX_BATCH_RESOURCES);
    } while (tables.resources.toIngest(doneId, 1).length > 0)
  }
  const reportRecovery = () => {
    if (isFaulty) logger.info('Ingestion continues')
    isFaulty = false
    return true
  }
  /** Logs a lasting fault once. */
  const reportFault = (error: unknown) => {
    if (!isFaulty && !signal.aborted) {
      logger.error('Cannot continue ingestion; trying again', { error: messageOf(error) })
    }
    isFaulty = true
    return false
  }
  const work = async () => {
    while (isWoken && !signal.aborted) {
      isWoken = false
      if (await ingestAll().then(reportRecovery, reportFault)) continue
      // The fault may pass (someone frees space on a full disk) although no further upload wakes this loop.
      await clock.sleep(RETRY_MS, signal).catch(() => {})
      isWoken = true
      doneId = 0
    }
    working = undefined
  }
  return {
    wake: (resourceId = Number.POSITIVE_INFINITY) => {
      if (signal.aborted) return
      fromOtherLoopId = Math.min(fromOtherLoopId, resourceId)
      isWoken = true
      working ??= work()
    },
    settled: async () => {
      while (working) await working
    },
  }
}
