/** Shapes of the bodies of requests. */
import { z } from 'zod'
import { fault } from '../../foundation/http/fault.ts'
import { engineLimits, mirrorSettings } from '../../sync/engine.ts'
import { passOptions } from '../../sync/pass.ts'

/** The service in the client's configuration: its origin, or the data directory of the embedded library. */
const service = z.string()

export const syncRequest = z.object({
  service,
  mirrors: z.array(mirrorSettings).readonly(),
  limits: engineLimits,
  // A dry run ends with a rollback, which would also undo what the daemon writes to its store meanwhile.
  options: passOptions.extend({ isDryRun: z.literal(false) }),
  /** Whether the daemon reports each sent file by name. */
  namesFiles: z.boolean(),
})

/** For routes without input. */
export const nothing = z.object({})
export const libraryRequest = z.object({ service })
/** All mirrors when none is named. */
export const mirrorNames = z.object({ names: z.array(z.string()).readonly().default([]) })
export const mirrorName = z.object({ name: z.string() })
export const contents = z.object({ contentIds: z.array(z.int()).readonly() })
/** `reason` is the error that the sync ends with. */
export const stopRequest = z.object({ sync: z.string(), reason: fault.optional() })

export type SyncRequest = Readonly<z.infer<typeof syncRequest>>
