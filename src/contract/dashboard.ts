import { z } from 'zod'
import { documentCalls } from './document-calls.ts'
import { fileCounts } from './file-counts.ts'
import { mirrorEdits } from './mirror-edits.ts'
import { SHOWN_STATES } from './report-classes.ts'

/** Shapes of what the dashboard shows; times are ISO 8601. */

const count = z.int().nonnegative()
const time = z.string()
const shownState = z.enum(SHOWN_STATES)

export const mirrorOverview = z.object({
  name: z.string(),
  path: z.string(),
  /** Null until the mirror's library is known. */
  library: z.object({ id: z.string(), name: z.string(), remotePath: z.string() }).nullable(),
  /** `✓` nothing to do, `→` in progress, `!` something to know or to do, `✗` stopped until the user acts. */
  state: z.object({ sign: z.enum(['✓', '→', '!', '✗']), text: z.string() }),
  isPaused: z.boolean(),
  /** A sync that was asked for on the dashboard is running, or waits for its turn. */
  isSyncing: z.boolean(),
  /** The mirror whose sync that one waits for. */
  syncWaitsFor: z.string().nullable(),
  /** Why the last sync that was asked for on the dashboard ended early. */
  syncFailure: z.string().nullable(),
  files: fileCounts,
  queue: z.object({ contents: count, bytes: count }),
  inIngestion: count,
  problems: count,
  lastRun: z.object({ at: time, verdict: z.string() }).nullable(),
  /** The next planned scan or batch of the daemon. */
  nextRunAt: time.nullable(),
  /** Other facts from the daemon, such as how it watches: label and text. */
  details: z.array(z.tuple([z.string(), z.string()])).readonly(),
  /** When the daemon did or will do something: label and time. */
  times: z.array(z.tuple([z.string(), time])).readonly(),
})

/** The state of everything, as the live stream repeats it whenever it changes. */
export const overview = z.object({
  version: z.string(),
  /** The origin of the service, or the data directory of the embedded library. */
  service: z.string(),
  /** Null when no daemon runs. */
  daemon: z.object({ startedAt: time, summary: z.string() }).nullable(),
  /** Why the service or the ledger gives no answers now, and what shelfd does about it. */
  troubles: z.array(z.string()).readonly(),
  isInFleet: z.boolean(),
  mirrors: z.array(mirrorOverview).readonly(),
})

const reportRow = z.object({
  path: z.string().nullable(),
  class: shownState,
  reason: z.string().nullable(),
  sizeBytes: count.nullable(),
  /** Opens the document. */
  resourceId: z.string().nullable(),
})

const classCounts = z.partialRecord(shownState, count)

const rowsInput = z.object({
  mirror: z.string(),
  /** All when none is named. */
  classes: z.array(shownState).readonly(),
  /** Only paths that contain it, in upper or lower case. */
  text: z.string().max(1_000),
  /** Only paths below this directory; empty for all. */
  below: z.string(),
  offset: count,
})

const rowsPage = z.object({
  readAt: time,
  /** Rows that the filter leaves. */
  total: count,
  /** Rows by class, whatever classes the filter names. */
  counts: classCounts,
  rows: z.array(reportRow).readonly(),
})

const treeInput = z.object({ mirror: z.string(), directory: z.string() })

const treePage = z.object({
  readAt: time,
  /** The directories in a directory, each with the rows below it. */
  directories: z.array(z.object({ name: z.string(), counts: classCounts })).readonly(),
  moreDirectories: count,
  files: z.array(reportRow).readonly(),
  moreFiles: count,
})

const explanation = z.object({ fields: z.array(z.tuple([z.string(), z.string()])).readonly() })

const failedContent = z.object({
  contentId: z.int(),
  stage: z.enum(['upload', 'ingestion']),
  resourceId: z.string().nullable(),
  tries: count,
  since: time.nullable(),
  retryAt: time.nullable(),
  /** Other files that have it. */
  copies: z.array(z.string()).readonly(),
  moreCopies: count,
})

const problem = z.object({
  mirror: z.string(),
  path: z.string(),
  code: z.string(),
  isSetAside: z.boolean(),
  canSetAside: z.boolean(),
  /** The message without the path. */
  cause: z.string(),
  /** Null for a path that could not be read, or cannot be sent. */
  content: failedContent.nullable(),
  /** The line of a `.shelfdignore` in the mirror's directory that leaves the path out; null when no line can. */
  ignoreLine: z.string().nullable(),
  root: z.string(),
  /** What may mend it on the command line; null when no command is known. */
  command: z.string().nullable(),
})

const problemsFilter = z.object({
  /** Only problems of paths that contain it, in upper or lower case. */
  text: z.string().max(1_000),
  /** The key of a group, or empty for all. */
  cause: z.string(),
  place: z.string(),
})

/** Beyond the end, the last page is answered. */
const problemsInput = problemsFilter.extend({ offset: count })

const problemGroup = z.object({ key: z.string(), count })

const problemsPage = z.object({
  /** Problems that the filter leaves; those that were set aside are among them, the last ones. */
  total: count,
  setAside: count,
  /** By cause, and by directory, each counted as if its own kind of filter were off; the largest first. */
  causes: z.array(problemGroup).readonly(),
  places: z.array(problemGroup).readonly(),
  morePlaces: count,
  problems: z.array(problem).readonly(),
  /** Contents among all that the filter leaves that are not set aside. */
  failed: count,
})

const timelineSpan = z.enum(['hour', 'day', 'month'])

/** The uploads in equal intervals, the oldest first; each array has one value an interval. */
export const timeline = z.object({
  fromMs: z.number(),
  intervalMs: z.number(),
  sent: z.array(count).readonly(),
  bytes: z.array(count).readonly(),
  /** Uploads that failed or are in doubt, and contents sent then whose ingestion failed. */
  failed: z.array(count).readonly(),
  /** The median time until what was sent then could be searched; null where nothing can be. */
  searchableAfterMs: z.array(z.number().nullable()).readonly(),
})

const host = z.object({
  id: z.int(),
  name: z.string(),
  version: z.string(),
  seenAt: time.nullable(),
  /** `silent`: it did not end its session, and had no beat for long. */
  session: z.enum(['open', 'closed', 'silent']),
  /** By the sign of their state: `✓`, `→`, `!`, `✗`. */
  mirrors: z.object({ done: count, busy: count, warned: count, stopped: count }),
  waiting: count,
  problems: count,
  sentInDay: count,
})

const hostsInput = z.object({
  /** Only hosts whose name contains it, in upper or lower case. */
  text: z.string().max(1_000),
  /** Beyond the end, the last page is answered. */
  offset: count,
})

const hostsPage = z.object({
  /** Hosts that the filter leaves. */
  total: count,
  secondSends: count,
  hosts: z.array(host).readonly(),
})

const hostPage = z.object({
  host,
  mirrors: z
    .array(
      mirrorOverview
        .pick({ name: true, state: true, isPaused: true, files: true, queue: true, problems: true })
        .extend({
          path: z.string().nullable(),
        }),
    )
    .readonly(),
  problems: z
    .array(z.object({ mirror: z.string(), path: z.string(), code: z.string(), message: z.string() }))
    .readonly(),
})

const hostOrder = z.object({
  hostId: z.int(),
  kind: z.enum(['pause', 'resume', 'sync']),
  /** Null: all of the host. */
  mirror: z.string().nullable(),
})

const settingsInForce = z.object({
  /** Null without a configuration file. */
  configFile: z.string().nullable(),
  settings: z.array(z.object({ key: z.string(), value: z.string(), origin: z.string() })).readonly(),
  /** Also those that no configuration names. */
  mirrors: z
    .array(z.object({ name: z.string(), path: z.string(), origin: z.string(), isConfigured: z.boolean() }))
    .readonly(),
})

const logLine = z.object({
  /** Counted from 1 since the daemon started. */
  number: count,
  at: time,
  level: z.enum(['info', 'warn', 'error']),
  text: z.string(),
})

/** The last lines of the daemon's log; null when no daemon serves the dashboard. */
const logLines = z.object({ lines: z.array(logLine).readonly().nullable() })

export type Overview = z.infer<typeof overview>
export type MirrorOverview = z.infer<typeof mirrorOverview>
export type ReportRowShown = z.infer<typeof reportRow>
export type ClassCounts = z.infer<typeof classCounts>
export type RowsInput = z.infer<typeof rowsInput>
export type RowsPage = z.infer<typeof rowsPage>
export type TreePage = z.infer<typeof treePage>
export type ProblemsInput = z.infer<typeof problemsInput>
export type ProblemsPage = z.infer<typeof problemsPage>
export type ShownProblem = z.infer<typeof problem>
export type ProblemCount = z.infer<typeof problemGroup>
export type TimelineSpan = z.infer<typeof timelineSpan>
export type Timeline = z.infer<typeof timeline>
export type HostShown = z.infer<typeof host>
export type HostsPage = z.infer<typeof hostsPage>
export type HostPage = z.infer<typeof hostPage>
export type SettingsInForce = z.infer<typeof settingsInForce>
export type LogLine = z.infer<typeof logLine>

/** The HTTP interface of the dashboard: `POST /api/NAME` with JSON in both directions, and the live stream. */

const nothing = z.object({})
const names = z.object({ names: z.array(z.string()).readonly() })
const failures = z.object({
  contentIds: z.array(z.int()).readonly(),
  paths: z.array(z.object({ mirror: z.string(), path: z.string() })).readonly(),
})
const counted = z.object({ count: z.int() })

/** Every call by name. Only `signIn` needs no session. */
export const dashboardCalls = {
  signIn: { input: z.object({ key: z.string() }), answer: z.object({ token: z.string() }) },
  /** These mirrors, all when none is named. */
  pause: { input: names, answer: nothing },
  resume: { input: names, answer: nothing },
  /** Begins a sync and does not wait for its end. */
  sync: { input: names, answer: nothing },
  rows: { input: rowsInput, answer: rowsPage },
  tree: { input: treeInput, answer: treePage },
  why: { input: z.object({ mirror: z.string(), path: z.string() }), answer: explanation },
  problems: { input: problemsInput, answer: problemsPage },
  retry: { input: failures, answer: counted },
  /** All that the filter leaves and that are not set aside. */
  retryAll: { input: problemsFilter, answer: counted },
  setAside: { input: failures, answer: counted },
  timeline: { input: z.object({ span: timelineSpan }), answer: timeline },
  hosts: { input: hostsInput, answer: hostsPage },
  host: { input: z.object({ hostId: z.int() }), answer: hostPage },
  /** The host carries it out with its next renewal. */
  order: { input: hostOrder, answer: nothing },
  settings: { input: nothing, answer: settingsInForce },
  log: { input: nothing, answer: logLines },
  ...documentCalls,
  ...mirrorEdits,
} as const

/**
 * An event of `GET /api/live`: the state, with the number of the log's last line (null when no daemon serves the dashboard), or
 * why it cannot be read now.
 */
export const liveEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('overview'), overview, logNumber: z.int().nullable() }),
  z.object({ kind: z.literal('failure'), message: z.string() }),
])

type DashboardCalls = typeof dashboardCalls
export type CallName = keyof DashboardCalls
export type CallInput<K extends CallName> = z.infer<DashboardCalls[K]['input']>
export type CallResponse<K extends CallName> = z.infer<DashboardCalls[K]['answer']>
export type LiveEvent = z.infer<typeof liveEvent>

export type CallHandlers = {
  readonly [K in CallName]: (input: CallInput<K>, signal: AbortSignal) => Promise<CallResponse<K>>
}
