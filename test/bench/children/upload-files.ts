/** Measures the engine's uploads of a tree that was observed before: intents, bodies, answers and receipts, durably committed. */

import type { IngestionCapacity } from '../../../src/sync/ingestion/ingestion-capacity.ts'
import { observe } from '../../../src/sync/observe/observe.ts'
import { newAttempts } from '../../../src/sync/pass.ts'
import { RunQuota } from '../../../src/sync/upload/run-quota.ts'
import { UploadQueue } from '../../../src/sync/upload/upload-queue.ts'
import { Uploader } from '../../../src/sync/upload/uploader.ts'
import { openBenchEngine, printMeasure, readInput } from './bench-engine.ts'

/** Ingestion that is over as soon as it begins: there is always room, and nothing to poll. */
const OPEN_GATE: IngestionCapacity = {
  countPending: () => 0,
  wake() {},
  hasFailed: false,
  onCapacity: () => ({ [Symbol.dispose]() {} }),
}

await using opened = await openBenchEngine(readInput())
const { engine, mirror, summary } = opened
await observe(engine, mirror, summary, { hashEverything: false, acceptsRemovals: false, settleMs: null })
const connection = await engine.service.connect(engine.signal)
await connection.client.capabilities(engine.signal)
await printMeasure(async () => {
  const attempts = newAttempts()
  const quota = new RunQuota(engine, mirror.row, { kind: 'run', runId: mirror.runId, afterUploadId: 0 })
  const queue = new UploadQueue(engine, mirror, { summary, quota, attempts }, false)
  const work = { queue, gate: OPEN_GATE, summary, attempts, waitMs: 60_000, onDirectoryGone: () => {} }
  await new Uploader(engine, mirror, connection, work).run()
  return summary.uploads.created
})
