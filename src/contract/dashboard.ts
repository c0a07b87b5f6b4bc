import { z } from 'zod'
import { fileCounts } from './file-counts.ts'
import { mirrorEdits } from './mirror-edits.ts'
import { identifier, resourceRecord } from './records.ts'
import { SHOWN_STATES } from './report-classes.ts'

/** The shapes of the data that the dashboard shows. Times are texts in the format of ISO 8601. */

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
  /** Whether a sync of this mirror that was started on the dashboard is running or waiting. */
  isSyncing: z.boolean(),
  /** The mirror whose sync must end before the sync of this one begins; null unless it waits. */
  syncWaitsFor: z.string().nullable(),
  /** Why the last sync that was started on the dashboard ended early; null for any other end. */
  syncFailure: z.string().nullable(),
  files: fileCounts,
  queue: z.object({ contents: count, bytes: count }),
  inIngestion: count,
  problems: count,
  lastRun: z.object({ at: time, verdict: z.string() }).nullable(),
  /** When the daemon plans the next scan or batch of this mirror; null if none is planned. */
  nextRunAt: time.nullable(),
  /** Further facts, such as how the daemon watches: each is a label and a text. */
  details: z.array(z.tuple([z.string(), z.string()])).readonly(),
  /** Each is a label of something that the daemon did or will do, and the time of it. */
  times: z.array(z.tuple([z.string(), time])).readonly(),
})

/** The state of everything. The live stream sends it again whenever it changes. */
export const overview = z.object({
  version: z.string(),
  /** The origin of the service, or the data directory of the embedded library. */
  service: z.string(),
  /** Null when no daemon runs. */
  daemon: z.object({ startedAt: time, summary: z.string() }).nullable(),
  /** Why the service or the ledger does not answer now, and what shelfd does about it; empty if both answer. */
  troubles: z.array(z.string()).readonly(),
  isInFleet: z.boolean(),
  mirrors: z.array(mirrorOverview).readonly(),
})

const reportRow = z.object({
  path: z.string().nullable(),
  class: shownState,
  reason: z.string().nullable(),
  sizeBytes: count.nullable(),
  /** The resource whose original the page can open; null if there is none. */
  resourceId: z.string().nullable(),
})

const classCounts = z.partialRecord(shownState, count)

const rowsInput = z.object({
  mirror: z.string(),
  /** Only rows of these classes; an empty list means all classes. */
  classes: z.array(shownState).readonly(),
  /** Only rows whose path contains this text, in upper or lower case. */
  text: z.string().max(1_000),
  /** Only rows below this directory; an empty text means all directories. */
  below: z.string(),
  offset: count,
})

const rowsPage = z.object({
  readAt: time,
  /** How many rows pass the filter. */
  total: count,
  /** How many rows of each class would pass if the filter named all classes. */
  counts: classCounts,
  rows: z.array(reportRow).readonly(),
})

const treeInput = z.object({ mirror: z.string(), directory: z.string() })

const treePage = z.object({
  readAt: time,
  /** The subdirectories, each with the number of rows below it by class. */
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
  /** Some of the other files with this content, as `MIRROR: PATH`. */
  copies: z.array(z.string()).readonly(),
  moreCopies: count,
})

const problem = z.object({
  mirror: z.string(),
  path: z.string(),
  code: z.string(),
  isSetAside: z.boolean(),
  canSetAside: z.boolean(),
  /** The error message without the path. */
  cause: z.string(),
  /** Null if the problem is that the path cannot be read or sent. */
  content: failedContent.nullable(),
  /** The line of a `.shelfdignore` in the mirror's directory that leaves the path out; null when no line can. */
  ignoreLine: z.string().nullable(),
  root: z.string(),
  /** A shell command that may solve the problem; null when none is known. */
  command: z.string().nullable(),
})

const problemsFilter = z.object({
  /** Only problems of paths that contain this text, in upper or lower case. */
  text: z.string().max(1_000),
  /** Like `place`, the key of a group in the answer; an empty text means all groups. */
  cause: z.string(),
  place: z.string(),
})

/** An `offset` beyond the end gets the last page. */
const problemsInput = problemsFilter.extend({ offset: count })

const problemGroup = z.object({ key: z.string(), count })

const problemsPage = z.object({
  /** How many problems pass the filter. Those that were set aside are included, and come last. */
  total: count,
  setAside: count,
  /** Groups by cause and by directory, the largest first: `causes` disregard the filter's cause, `places` its place. */
  causes: z.array(problemGroup).readonly(),
  places: z.array(problemGroup).readonly(),
  morePlaces: count,
  problems: z.array(problem).readonly(),
  /** How many failed contents pass the filter and are not set aside. */
  failed: count,
})

const timelineSpan = z.enum(['hour', 'day', 'month'])

/** The uploads by intervals of equal length, the oldest first. Each array has one value per interval. */
export const timeline = z.object({
  fromMs: z.number(),
  intervalMs: z.number(),
  sent: z.array(count).readonly(),
  bytes: z.array(count).readonly(),
  /** Uploads of the interval that failed, are in doubt, or whose content failed in ingestion later. */
  failed: z.array(count).readonly(),
  /** The median time from an upload in the interval until its content was searchable; null if none is searchable. */
  searchableAfterMs: z.array(z.number().nullable()).readonly(),
})

const host = z.object({
  id: z.int(),
  name: z.string(),
  version: z.string(),
  seenAt: time.nullable(),
  /** `silent`: the session has not ended, but the host has sent no beat for a long time. */
  session: z.enum(['open', 'closed', 'silent']),
  /** How many mirrors have a state with the sign `✓`, `→`, `!` or `✗`, in this order. */
  mirrors: z.object({ done: count, busy: count, warned: count, stopped: count }),
  waiting: count,
  problems: count,
  sentInDay: count,
})

const hostsInput = z.object({
  /** Only hosts whose name contains this text, in upper or lower case. */
  text: z.string().max(1_000),
  /** An offset beyond the end gets the last page. */
  offset: count,
})

const hostsPage = z.object({
  /** How many hosts pass the filter. */
  total: count,
  /** How many files of all hosts reached the service twice. */
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
  /** Null for all mirrors of the host. */
  mirror: z.string().nullable(),
})

const settingsInForce = z.object({
  /** Null without a configuration file. */
  configFile: z.string().nullable(),
  settings: z.array(z.object({ key: z.string(), value: z.string(), origin: z.string() })).readonly(),
  /** All mirrors, also those that the configuration does not name. */
  mirrors: z
    .array(z.object({ name: z.string(), path: z.string(), origin: z.string(), isConfigured: z.boolean() }))
    .readonly(),
})

/** `type` is a kind such as `PDF`, `directory` a path in a library. An empty `library`, `type` or `directory` means any. */
const searchInput = z.object({
  query: z.string().max(1_000),
  library: z.literal('').or(identifier),
  type: z.string().max(100),
  directory: z.string().max(10_000),
  /** Whether earlier versions and documents without a file are found too. */
  allVersions: z.boolean(),
})

const hitVersion = z.enum(['current', 'waiting', 'earlier', 'gone', 'left-out'])

const searchPage = z.object({
  notice: z.string(),
  /** The first hits that pass the filter, the best first. */
  results: z.array(
    z.object({
      resource: resourceRecord,
      mime: z.string().nullable(),
      size: z.number().nullable(),
      /** When the document's file was last changed; if no file is here, when the document was added. */
      date: time.nullable(),
      version: hitVersion,
      /** The absolute path of the document's file; null if no file is here. */
      file: z.string().nullable(),
      /** If the document has no file any more, the path of its last one; if the file has moved, the path it was sent from. */
      formerFile: z.string().nullable(),
      earlier: z.object({ count, newest: time }).nullable(),
    }),
  ),
  /** How many of the `candidates`, the hits that were examined, pass the filter. */
  total: count,
  candidates: count,
  /** Whether the candidates are all that the search found. */
  isComplete: z.boolean(),
  /** How many candidates are left out because a fact that the filter needs is unknown. */
  undecided: count,
  /** How many candidates are left out because they are earlier versions or have no file any more. */
  outdated: count,
})

const fileToOpen = z.object({ resourceId: identifier, folder: z.boolean() })

const logLine = z.object({
  /** Counted from 1 since the daemon started. */
  number: count,
  at: time,
  level: z.enum(['info', 'warn', 'error']),
  text: z.string(),
})

/** `lines` are the last ones of the daemon's log; null when no daemon serves the dashboard. */
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
  /** Like `resume` and `sync`, concerns the named mirrors, or all of them if none is named. */
  pause: { input: names, answer: nothing },
  resume: { input: names, answer: nothing },
  /** Begins a sync and does not wait for its end. */
  sync: { input: names, answer: nothing },
  rows: { input: rowsInput, answer: rowsPage },
  tree: { input: treeInput, answer: treePage },
  why: { input: z.object({ mirror: z.string(), path: z.string() }), answer: explanation },
  problems: { input: problemsInput, answer: problemsPage },
  retry: { input: failures, answer: counted },
  /** Retries all failed contents that pass the filter and are not set aside. */
  retryAll: { input: problemsFilter, answer: counted },
  setAside: { input: failures, answer: counted },
  timeline: { input: z.object({ span: timelineSpan }), answer: timeline },
  hosts: { input: hostsInput, answer: hostsPage },
  host: { input: z.object({ hostId: z.int() }), answer: hostPage },
  /** Leaves an order for a host, which carries it out when it next renews its session. */
  order: { input: hostOrder, answer: nothing },
  settings: { input: nothing, answer: settingsInForce },
  log: { input: nothing, answer: logLines },
  search: { input: searchInput, answer: searchPage },
  /** Returns an address that opens the original for some minutes. */
  openDocument: { input: z.object({ resourceId: identifier }), answer: z.object({ url: z.string() }) },
  /** Opens a file of the resource on this computer, or its directory if `folder` is true; without a desktop, only returns the path. */
  openFile: { input: fileToOpen, answer: z.object({ isOpened: z.boolean(), path: z.string() }) },
  ...mirrorEdits,
} as const

/** An event of `GET /api/live`: the state and the number of the log's last line (null without a daemon), or why there is neither. */
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
