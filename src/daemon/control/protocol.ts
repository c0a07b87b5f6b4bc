import { z } from 'zod'
import type { EngineLimits, MirrorSettings } from '../../sync/engine.ts'
import type { SentFile } from '../../sync/file-log.ts'
import type { PassOptions } from '../../sync/pass.ts'
import { fault } from '../http/fault.ts'
import { progressShape, runAnswer } from './shapes.ts'

const limit = z.number().nonnegative().nullable()
const names = z.array(z.string()).readonly()
/** What the client would work with: the origin of a service, or the data directory of the embedded library. */
const service = z.string()

const mirrorSettings = z.object({
  name: z.string(),
  path: z.string(),
  library: z.string(),
  mayCreateLibrary: z.boolean(),
  remotePath: z.string(),
  ignore: z.array(z.string()).readonly(),
  maxSizeBytes: limit,
  oneFileSystem: z.boolean(),
  emptyFiles: z.enum(['upload', 'skip']),
  duplicates: z.enum(['skip', 'link']),
  isAdHoc: z.boolean(),
  breadth: z.string().nullable(),
}) satisfies z.ZodType<MirrorSettings>

const engineLimits = z.object({
  transfers: z.int().positive(),
  checkers: z.int().positive(),
  inIngestion: z.int().positive(),
  newPerRun: limit,
  newPerDay: limit,
  newBytesPerRun: limit,
}) satisfies z.ZodType<EngineLimits>

const passOptions = z.object({
  waitMs: z.number().nonnegative(),
  hashEverything: z.boolean(),
  // A rehearsal is undone with everything else that is written meanwhile: it is no business of the daemon's store.
  isDryRun: z.literal(false),
  acceptsRemovals: z.boolean(),
  adopts: z.boolean(),
  acceptsRoot: z.boolean(),
  acceptsBreadth: z.boolean(),
}) satisfies z.ZodType<PassOptions>

export const syncRequest = z.object({
  service,
  mirrors: z.array(mirrorSettings).readonly(),
  limits: engineLimits,
  options: passOptions,
  /** Each file that is sent is told by its name. */
  namesFiles: z.boolean(),
})

/** For routes that need to know nothing. */
export const nothing = z.object({})
export const libraryRequest = z.object({ service })
/** All mirrors when none is named. */
export const mirrorNames = z.object({ names: names.default([]) })
export const mirrorName = z.object({ name: z.string() })
export const contents = z.object({ contentIds: z.array(z.int()).readonly() })
/** `reason` is the error that the sync ends with. */
export const stopRequest = z.object({ sync: z.string(), reason: fault.optional() })

const sentFile = z.object({
  mirror: z.string(),
  path: z.string(),
  sizeBytes: z.number(),
  resourceId: z.string(),
  isDuplicate: z.boolean(),
}) satisfies z.ZodType<SentFile>

/** The answer to a sync, a line each: first `started`, then any number of `progress` and `sent`, then one of the others. */
export const syncLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started'), sync: z.string() }),
  z.object({ kind: z.literal('progress'), progress: progressShape }),
  z.object({ kind: z.literal('sent'), file: sentFile }),
  z.object({ kind: z.literal('result'), result: runAnswer }),
  z.object({ kind: z.literal('error'), error: fault }),
])

/** Answer to `library`. */
export const libraryAccess = z.object({ url: z.url(), token: z.string().min(1), instanceId: z.string() })

/** Answer to `reload`. */
export const reloaded = z.object({ mirrors: names })

export type SyncRequest = z.infer<typeof syncRequest>
export type SyncLine = z.infer<typeof syncLine>

/** Where the daemon's embedded library listens, and its owner's token. */
export type LibraryAccess = z.infer<typeof libraryAccess>

/** The mirrors that the daemon looks after from now on. */
export type Reloaded = z.infer<typeof reloaded>
