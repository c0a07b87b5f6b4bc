import PQueue from 'p-queue'
import type { Engine, Service } from '../engine.ts'

/** More small uploads at once, since in the embedded library they share commits. */
const SMALL_EACH_TRANSFER = 4

export function openUploadQueues(
  transfers: number,
  { isEmbedded }: Pick<Service, 'isEmbedded'>,
): Pick<Engine, 'uploads' | 'largeUploads'> {
  return {
    uploads: new PQueue({ concurrency: isEmbedded ? transfers * SMALL_EACH_TRANSFER : transfers }),
    largeUploads: new PQueue({ concurrency: transfers }),
  }
}
