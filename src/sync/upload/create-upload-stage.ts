import { createDirectories } from '../directories/create-directories.ts'
import { recheckDirectories } from '../directories/recheck-directories.ts'
import { EarlierUploads } from '../doubts/earlier-uploads.ts'
import { resolveDoubts } from '../doubts/resolve-doubts.ts'
import { resolveLinkDoubts } from '../doubts/resolve-link-doubts.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import { RefusalExplainer } from './explain-refusal.ts'
import { UploadPreparation } from './prepare-uploads.ts'
import { RunQuota } from './run-quota.ts'
import { UploadBatcher } from './upload-batcher.ts'
import { uploadOne } from './upload-one.ts'
import type { UploadOptions } from './upload-options.ts'
import { UploadPlan } from './upload-plan.ts'
import { UploadStage } from './upload-stage.ts'

/** Composes the upload stage of one mirror. */
export function createUploadStage(
  engine: Engine,
  mirror: OpenMirror,
  connection: Connection,
  options: UploadOptions,
): UploadStage {
  const { summary, attempts, quotaScope } = options
  const earlier = new EarlierUploads(engine, mirror, connection, options)
  const quota = new RunQuota(engine, mirror.row, quotaScope)
  return new UploadStage(engine, mirror.row.id, options, {
    preparation: new UploadPreparation(engine.clock, options, {
      earlier,
      recheckDirectories: () => recheckDirectories(engine, mirror, connection),
      createDirectories: () => createDirectories(engine, mirror, connection, summary),
      resolveDoubts: () => resolveDoubts(engine, mirror, connection, options),
      resolveLinkDoubts: async () =>
        mirror.settings.duplicates === 'link' ? await resolveLinkDoubts(engine, mirror, connection, options) : [],
    }),
    refusals: new RefusalExplainer(engine, mirror, connection, attempts),
    createPlan: async () => {
      const { uploadDirectoryField } = await connection.client.capabilities(engine.signal)
      const needsDirectory = uploadDirectoryField.field !== undefined
      return new UploadPlan(engine, mirror, { summary, attempts, quota, earlier, needsDirectory })
    },
    openBatcher: (plan, listeners) => new UploadBatcher(engine, mirror, plan, { ...options, ...listeners }),
    uploadOne: (intent) => uploadOne(engine, mirror, connection, intent),
  })
}
