import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { openBackgroundWork } from '../storage/background-work.ts'

const MAX_BATCH_RESOURCES = 64
// Waiting this long lets uploads that follow each other share the transactions of their ingestion.
const BATCH_DELAY_MS = 50

export interface IngestLoopSpec {
  readonly tables: Tables
  readonly logger: Logger
  readonly clock: Clock
  readonly signal: AbortSignal
  accepts(resource: ResourceRow): boolean
  /** Takes resources to their final states; throws when a fault of the service itself (such as a full disk) prevents that. */
  ingest(batch: readonly ResourceRow[]): Promise<void>
}

export type IngestLoop = ReturnType<typeof openIngestLoop>

/**
 * One consumer of the table of resources. Each time it is woken:
 * 1. it waits BATCH_DELAY_MS, so that uploads gather;
 * 2. it ingests the resources that it accepts, oldest first, in batches of MAX_BATCH_RESOURCES, until none is left;
 * 3. if that fails, it starts again after a while with the oldest resource.
 */
export function openIngestLoop(spec: IngestLoopSpec) {
  const { clock, signal, tables, accepts } = spec
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
    /** Reports that there may be something to do: new uploads, or this resource, which another loop left to this one. */
    wake: (resourceId = Number.POSITIVE_INFINITY) => {
      fromOtherLoopId = Math.min(fromOtherLoopId, resourceId)
      wake()
    },
    settled,
  }
}
