import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../foundation/clock.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/tables/resources.ts'
import type { WriteQueue } from '../storage/write-queue.ts'

const MAX_BATCH_RESOURCES = 64
// Uploads that come one after the other share the transactions of their ingestion.
const GATHERING_MS = 50
const RETRY_MS = 5_000

export interface LaneSpec {
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly logger: Logger
  readonly clock: Clock
  readonly signal: AbortSignal
  accepts(resource: ResourceRow): boolean
  /** Takes resources to their final states; throws when the service itself can't go on. */
  ingest(batch: readonly ResourceRow[]): Promise<void>
}

/** One way through the table of resources: takes those that it accepts, oldest first, batch by batch. */
export interface Lane {
  /** There may be something to do. */
  ring(): void
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
}

export function openLane(spec: LaneSpec): Lane {
  const { clock, signal, logger, tables, accepts } = spec
  let working: Promise<void> | undefined
  let isRung = false
  let isFaulty = false
  // Everything up to this row id has its final state, or belongs to another lane.
  let doneId = 0
  /** Gives how many resources it looked at, its own and others. */
  const ingestNext = async () => {
    const rows = tables.resources.toIngest(doneId, MAX_BATCH_RESOURCES)
    await ingestBatch(spec, rows.filter(accepts))
    doneId = rows.at(-1)?.id ?? doneId
    return rows.length
  }
  const ingestAll = async () => {
    do {
      await clock.sleep(GATHERING_MS, signal)
      while ((await ingestNext()) === MAX_BATCH_RESOURCES);
    } while (tables.resources.toIngest(doneId, 1).length > 0)
  }
  const noteSuccess = () => {
    if (isFaulty) logger.info('Ingestion goes on')
    isFaulty = false
    return true
  }
  /** Said once, however long it lasts. */
  const noteFault = (error: unknown) => {
    if (!isFaulty && !signal.aborted) {
      logger.error('Ingestion cannot go on, and is tried again', { error: messageOf(error) })
    }
    isFaulty = true
    return false
  }
  const work = async () => {
    while (isRung && !signal.aborted) {
      isRung = false
      if (await ingestAll().then(noteSuccess, noteFault)) continue
      // Such as a full disk: there may be room after a while, also when no further upload comes.
      await clock.sleep(RETRY_MS, signal).catch(() => {})
      isRung = true
      doneId = 0
    }
    working = undefined
  }
  return {
    ring: () => {
      if (signal.aborted) return
      isRung = true
      working ??= work()
    },
    settled: async () => {
      while (working) await working
    },
  }
}

async function ingestBatch({ tables, writes, ingest }: LaneSpec, batch: readonly ResourceRow[]): Promise<void> {
  // Passing over what belongs to another lane must not hold up requests.
  if (batch.length === 0) return await setImmediate()
  await writes.write(() => {
    for (const { id, status } of batch) if (status !== 'running') tables.resources.start(id)
  })
  await ingest(batch)
}
