/** Measures the engine's uploads of a tree that was observed before: intents, bodies, answers and receipts, durably committed. */

import { EarlierUploads } from '../../../../src/sync/doubts/earlier-uploads.ts'
import type { Follower } from '../../../../src/sync/ingestion/ingestion-capacity.ts'
import { createDirectories } from '../../../../src/sync/library/create-directories.ts'
import { newAttempts } from '../../../../src/sync/pass.ts'
import { scanMirror } from '../../../../src/sync/scan/scan-mirror.ts'
import { UploadStage } from '../../../../src/sync/upload/upload-stage.ts'
import { openBenchEngine, printMeasure, readInput } from './bench-engine.ts'

/** Ingestion that is over as soon as it begins: there is always room, and nothing to poll. */
const NO_INGESTION: Follower = { hasFailed: false }

await using opened = await openBenchEngine(readInput())
const { engine, mirror, summary } = opened
await scanMirror(engine, mirror, summary, {
  hashEverything: false,
  acceptsRemovals: false,
  acceptsRoot: false,
  settleMs: null,
})
const connection = await engine.service.connect(engine.signal)
await connection.client.capabilities(engine.signal)
const context = { engine, mirror, connection }
await createDirectories(context, summary, new Map())
// Connecting comes before, to the ledger as to the service.
await engine.fleet?.join()
const attempts = newAttempts()
// Each new state looks once for uploads of an earlier one, with a request for each directory: 374 for 5,690 files.
await new EarlierUploads(context, { summary, attempts }).list()
await printMeasure(async () => {
  const quotaScope = { kind: 'run', runId: mirror.runId, afterUploadId: 0 } as const
  const options = { follower: NO_INGESTION, summary, attempts, waitMs: 60_000, quotaScope }
  const stage = new UploadStage(context, options)
  stage.drain()
  await stage.run()
  return summary.uploads.created
})
