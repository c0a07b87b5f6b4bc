/** The HTTP interface of the dashboard: `POST /api/NAME` with JSON in both directions, and the live stream. */
import { z } from 'zod'
import { identifier, searchAnswer } from '../records.ts'
import {
  explanation,
  logLines,
  overview,
  problems,
  rowsInput,
  rowsPage,
  settingsInForce,
  timeline,
  timelineSpan,
  treeInput,
  treePage,
} from './shapes.ts'

const nothing = z.object({})
const names = z.object({ names: z.array(z.string()).readonly() })
const contents = z.object({ contentIds: z.array(z.int()).readonly() })
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
  problems: { input: nothing, answer: problems },
  retry: { input: contents, answer: counted },
  setAside: { input: contents, answer: counted },
  timeline: { input: z.object({ span: timelineSpan }), answer: timeline },
  settings: { input: nothing, answer: settingsInForce },
  log: { input: nothing, answer: logLines },
  search: {
    input: z.object({ query: z.string().max(1_000), library: z.literal('').or(identifier) }),
    answer: searchAnswer,
  },
  /** An address under which the original can be opened for some minutes. */
  openDocument: { input: z.object({ resourceId: identifier }), answer: z.object({ url: z.string() }) },
} as const

/**
 * An event of `GET /api/live`: the state, with the number of the log's last line (null when no daemon serves the dashboard), or
 * why it cannot be read now.
 */
export const liveEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('overview'), overview, logNumber: z.int().nullable() }),
  z.object({ kind: z.literal('failure'), message: z.string() }),
])

export type DashboardCalls = typeof dashboardCalls
export type CallName = keyof DashboardCalls
export type CallInput<K extends CallName> = z.infer<DashboardCalls[K]['input']>
export type CallAnswer<K extends CallName> = z.infer<DashboardCalls[K]['answer']>
export type LiveEvent = z.infer<typeof liveEvent>
