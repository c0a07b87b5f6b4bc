import PQueue from 'p-queue'
import type { Engine, Service } from '../engine.ts'

/** How many small uploads into the embedded library run at once for each of `transfers`: they share its commits. */
const SMALL_UPLOADS_PER_TRANSFER = 4

export function openUploadQueues(
  transfers: number,
  { isEmbedded }: Pick<Service, 'isEmbedded'>,
): Pick<Engine, 'uploads' | 'largeUploads'> {
  return {
    uploads: new PQueue({ concurrency: isEmbedded ? transfers * SMALL_UPLOADS_PER_TRANSFER : transfers }),
    largeUploads: new PQueue({ concurrency: transfers }),
  }
}
