import { IdSet } from '../../foundation/id-set.ts'
import type { UploadLimits } from '../../rules/limits.ts'
import { recordHeldBack, type SyncSummary } from '../../rules/sync-summary.ts'
import { listDirectoriesToCreate } from '../directories.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { newAttempts, type QuotaScope } from '../pass.ts'
import { silentFileLog } from '../sinks.ts'
import { UploadPlan } from './upload-plan.ts'

export function estimateUploads(
  engine: Engine,
  mirror: OpenMirror,
  summary: SyncSummary,
  quotaScope: QuotaScope,
): void {
  const { store } = engine
  summary.directories.created = countDirectoriesToCreate(engine, mirror)
  const all =
    isUnlimited(engine.limits) && engine.fileLog === silentFileLog
      ? store.contents.tallyIfNew(mirror.row.id)
      : undefined
  if (all) {
    summary.uploads.created += all.contents
    summary.uploads.bytes += all.bytes
    summary.uploads.aliases += all.copies - all.contents
    return
  }
  const plan = new UploadPlan(engine, mirror, { summary, quotaScope, attempts: newAttempts(), needsDirectory: false })
  const estimated = new IdSet()
  while (!plan.isExhausted) {
    for (const { contentId, path, sizeBytes } of plan.take(1_000)) {
      summary.uploads.created += 1
      summary.uploads.bytes += sizeBytes
      summary.uploads.aliases += store.files.countCopies(contentId) - 1
      estimated.add(contentId)
      engine.fileLog.wouldSend({ mirror: mirror.row.name, path, sizeBytes })
    }
  }
  // Nothing is on its way, so nothing is in doubt.
  for (const contentId of estimated) store.contents.setState(contentId, 'new')
  recordHeldBack(summary, plan.listHeldBack())
}

function isUnlimited({ newPerRun, newPerDay, newBytesPerRun }: UploadLimits): boolean {
  return newPerRun === null && newPerDay === null && newBytesPerRun === null
}

/** Creating the mirror's root creates the ancestors of the remote path as well. */
function countDirectoriesToCreate({ store }: Engine, mirror: OpenMirror): number {
  const pending = listDirectoriesToCreate(store, mirror)
  const { row } = mirror
  if (pending[0] !== '') return pending.length
  return row.remotePath === '/' ? pending.length - 1 : pending.length + row.remotePath.split('/').length - 2
}
