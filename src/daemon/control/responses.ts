/** Shapes of the daemon's answers, except its status and the lines of a sync. */
import { z } from 'zod'

/** How many contents were retried or ignored. */
export const contentCount = z.int().nonnegative()

/** Where the daemon's embedded library listens, and its owner's token. */
export const libraryAccess = z.object({ url: z.url(), token: z.string().min(1), instanceId: z.string() })

/** The mirrors that the daemon keeps after a reload. */
export const reloaded = z.object({ mirrors: z.array(z.string()).readonly() })

export type LibraryAccess = Readonly<z.infer<typeof libraryAccess>>
export type Reloaded = Readonly<z.infer<typeof reloaded>>
