import { emptySummary, type SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { recordRescan } from '../scan/record-batches.ts'
import { groupByDirectory } from '../scan/rescan-entries.ts'
import type { PathProblem } from '../scan/scan-batch.ts'
import { walkOptions } from '../scan/scan-mirror.ts'

/** Files that changed while a pass read them, by path. */
export interface UnreadFiles {
  /** The scan could not hash them. */
  readonly byScan: Set<string>
  /** They were hashed, and their upload found something else. */
  readonly byUpload: Set<string>
}

/**
 * Waits for the settle time, reads these files once more, and records what they are now, so that they can be uploaded. Returns the
 * problems of those that cannot be read. Files that are gone stay recorded, since only a scan removes them (P11).
 */
export async function readAgain(
  engine: Engine,
  mirror: OpenMirror,
  { byScan, byUpload }: UnreadFiles,
  summary: SyncSummary,
): Promise<PathProblem[]> {
  const { clock, signal, logger } = engine
  const { settleMs } = mirror.settings
  // The scan has counted the files whose upload failed, and left out those that it could not hash.
  const countedBefore = [...byUpload].filter((path) => !byScan.has(path))
  const files = byScan.size + countedBefore.length
  logger.info('files changed while they were read; they are read again', { mirror: mirror.row.name, files, settleMs })
  await clock.sleep(settleMs, signal)
  const recount = emptySummary(summary)
  const problems = [
    ...(await rescan(engine, mirror, [...byScan], summary)),
    ...(await rescan(engine, mirror, countedBefore, recount)),
  ]
  summary.files.hashed += recount.files.hashed
  const { unchanged, new: fresh, changed, moved } = summary.files
  summary.files.scanned = unchanged + fresh + changed + moved
  return problems
}

async function rescan(
  engine: Engine,
  mirror: OpenMirror,
  paths: readonly string[],
  summary: SyncSummary,
): Promise<PathProblem[]> {
  const { store, signal } = engine
  const problems: PathProblem[] = []
  if (paths.length === 0) return problems
  const options = walkOptions(engine, mirror, { hashEverything: false, isNew: false, settleMs: null })
  await using rescanner = engine.openRescanner(options)
  const entries = groupByDirectory(store, mirror.row.id, paths)
  for await (const batch of rescanner.rescan({ kind: 'entries', entries, root: mirror.root.place }, signal)) {
    recordRescan(engine, mirror, batch, summary)
    problems.push(...batch.problems)
  }
  return problems
}
