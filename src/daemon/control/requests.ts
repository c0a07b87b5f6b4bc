/** What clients send along with their requests. */
import { z } from 'zod'
import { engineLimits, mirrorSettings } from '../../sync/engine.ts'
import { passOptions } from '../../sync/pass.ts'
import { fault } from '../http/fault.ts'

/** What the client would work with: the origin of a service, or the data directory of the embedded library. */
const service = z.string()

export const syncRequest = z.object({
  service,
  mirrors: z.array(mirrorSettings).readonly(),
  limits: engineLimits,
  // A rehearsal is undone with everything else that is written meanwhile: it is no business of the daemon's store.
  options: passOptions.extend({ isDryRun: z.literal(false) }),
  /** Each file that is sent is told by its name. */
  namesFiles: z.boolean(),
})

/** For routes that need to know nothing. */
export const nothing = z.object({})
export const libraryRequest = z.object({ service })
/** All mirrors when none is named. */
export const mirrorNames = z.object({ names: z.array(z.string()).readonly().default([]) })
export const mirrorName = z.object({ name: z.string() })
export const contents = z.object({ contentIds: z.array(z.int()).readonly() })
/** `reason` is the error that the sync ends with. */
export const stopRequest = z.object({ sync: z.string(), reason: fault.optional() })

export type SyncRequest = Readonly<z.infer<typeof syncRequest>>
