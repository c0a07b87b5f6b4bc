/** What hosts publish for people; it never decides who sends a content. */
import { z } from 'zod'
import { mirrorOverview } from '../contract/dashboard.ts'

/** The most that a ledger keeps of a host; `problems` is the bound of each mirror. */
export const MAX_PUBLISHED = { mirrors: 1_000, problems: 1_000, problemsInAll: 10_000, runs: 100 }

const count = z.int().nonnegative()
const time = z.iso.datetime()

export const publishedMirror = mirrorOverview
  .omit({ isSyncing: true, syncWaitsFor: true, syncFailure: true, details: true, times: true })
  .extend({
    path: z.string().nullable(),
    lastRun: z.object({ at: time, verdict: z.string() }).nullable(),
    nextRunAt: time.nullable(),
  })

/** A path with a problem, or a failed content with its first file. */
export const publishedProblem = z.object({
  mirror: z.string(),
  path: z.string(),
  code: z.string(),
  message: z.string(),
  /** Null for a path that could not be read or sent. */
  content: z
    .object({
      sha256: z.string(),
      stage: z.enum(['upload', 'ingestion']),
      resourceId: z.string().nullable(),
      tries: count,
      since: time.nullable(),
      retryAt: time.nullable(),
      isSetAside: z.boolean(),
      files: count,
    })
    .nullable(),
})

export const publishedRun = z.object({
  run: count,
  verdict: z.string(),
  /** Missing in runs of earlier versions. */
  ending: z.string().exactOptional(),
  startedAt: time,
  finishedAt: time.nullable(),
  durationMs: z.number().nullable(),
  mirrors: z.array(z.object({ name: z.string(), sent: count, bytes: count, problems: count })).readonly(),
})

export type PublishedMirror = Readonly<z.infer<typeof publishedMirror>>
export type PublishedProblem = Readonly<z.infer<typeof publishedProblem>>
export type PublishedRun = Readonly<z.infer<typeof publishedRun>>

export interface Published {
  /** Contents that the host sent in the last 24 hours. */
  readonly sentInDay: number
  readonly mirrors: readonly PublishedMirror[]
  /** Undefined: those that were published before stay. The same holds for `runs`. */
  readonly problems: readonly PublishedProblem[] | undefined
  readonly runs: readonly PublishedRun[] | undefined
}
