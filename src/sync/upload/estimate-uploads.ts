import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { newAttempts } from '../pass.ts'
import { type QuotaScope, RunQuota } from './run-quota.ts'
import { UploadQueue } from './upload-queue.ts'
import { noteHeldBack } from './upload-stage.ts'

/** What would be sent and made, by the same plan as the real thing; the caller forgets what this writes. */
export function estimateUploads(engine: Engine, mirror: OpenMirror, summary: SyncSummary, scope: QuotaScope): void {
  const { store } = engine
  summary.directories.created = countDirectoriesToMake(engine, mirror)
  const quota = new RunQuota(engine, mirror.row, scope)
  const queue = new UploadQueue(engine, mirror, { summary, quota, attempts: newAttempts() }, false)
  const planned: number[] = []
  while (!queue.isExhausted) {
    for (const { contentId, path, sizeBytes } of queue.take(1_000)) {
      summary.uploads.created += 1
      summary.uploads.bytes += sizeBytes
      summary.uploads.aliases += store.files.countCopies(contentId) - 1
      planned.push(contentId)
      engine.fileLog.wouldSend({ mirror: mirror.row.name, path, sizeBytes })
    }
  }
  // Nothing is on its way, so nothing is in doubt.
  for (const contentId of planned) store.contents.setState(contentId, 'new')
  noteHeldBack(summary, queue.listHeldBack())
}

/** The remote path's ancestors are made with the mirror's root; the library's own root always exists. */
function countDirectoriesToMake({ store }: Engine, { row }: OpenMirror): number {
  const [first] = store.directories.listUnmade(row.id)
  const unmade = store.directories.countUnmade(row.id)
  if (first?.path !== '') return unmade
  return row.remotePath === '/' ? unmade - 1 : unmade + row.remotePath.split('/').length - 2
}
