import { z } from 'zod'
import type { EngineLimits, MirrorSettings } from '../../sync/engine.ts'
import type { SentFile } from '../../sync/file-log.ts'
import type { PassOptions } from '../../sync/pass.ts'

/** Raised with every change that an older client or daemon would misunderstand. */
export const PROTOCOL_VERSION = 2
/** The longest line a client may send. */
export const MAX_REQUEST_BYTES = 1024 * 1024
/** The account of a run names every problem. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024

const limit = z.number().nonnegative().nullable()
const names = z.array(z.string()).readonly()
/** What the client would work with: the origin of a service, or the data directory of the embedded library. */
const service = z.string()
const contentIds = z.array(z.int()).readonly()

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

const syncRequest = z.object({
  kind: z.literal('sync'),
  service,
  mirrors: z.array(mirrorSettings).readonly(),
  limits: engineLimits,
  options: passOptions,
  /** Each file that is sent is told by its name. */
  namesFiles: z.boolean(),
})

/** What may be asked. */
export const controlRequest = z.discriminatedUnion('kind', [
  syncRequest,
  z.object({ kind: z.enum(['status', 'reload']) }),
  z.object({ kind: z.literal('library'), service }),
  z.object({ kind: z.enum(['pause', 'resume']), names }),
  z.object({ kind: z.enum(['retry', 'ignore']), contentIds }),
  z.object({ kind: z.literal('forget'), name: z.string() }),
])

/** The first line of a connection. */
export const requestLine = z.object({ version: z.int(), request: z.unknown() })

/** An error on its way. */
export const fault = z.object({ code: z.string(), message: z.string(), status: z.int().optional() })

/** The only other line a client may send: the run shall end, and why. */
export const stopLine = z.object({ kind: z.literal('stop'), reason: fault })

const sentFile = z.object({
  mirror: z.string(),
  path: z.string(),
  sizeBytes: z.number(),
  resourceId: z.string(),
  isDuplicate: z.boolean(),
}) satisfies z.ZodType<SentFile>

/** What the server sends: any number of `progress` and `sent`, and then one of the others. */
export const answerLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), progress: z.unknown() }),
  z.object({ kind: z.literal('sent'), file: sentFile }),
  z.object({ kind: z.literal('result'), result: z.unknown() }),
  z.object({ kind: z.literal('error'), ...fault.shape }),
])

/** Answer to `library`. */
export const libraryAccess = z.object({ url: z.url(), token: z.string().min(1), instanceId: z.string() })

/** Answer to `reload`. */
export const reloaded = z.object({ mirrors: names })

export type SyncRequest = Omit<z.infer<typeof syncRequest>, 'kind'>
export type ControlRequest = z.infer<typeof controlRequest>
export type AnswerLine = z.infer<typeof answerLine>
/** An error on its way: `status` only of what a service refused. */
export type Fault = z.infer<typeof fault>

/** Where the daemon's embedded library listens, and its owner's token. */
export type LibraryAccess = z.infer<typeof libraryAccess>

/** The mirrors that the daemon looks after from now on. */
export type Reloaded = z.infer<typeof reloaded>
