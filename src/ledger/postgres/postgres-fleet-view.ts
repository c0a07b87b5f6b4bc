import type { z } from 'zod'
import { parseJson } from '../../foundation/text/parse-json.ts'
import type { ContentFact, FleetView, HostView, OfHost } from '../fleet-view.ts'
import { publishedMirror, publishedProblem, publishedRun } from '../published.ts'
import type { LedgerAddress } from './address.ts'
import { boundText, moment } from './call-encoding.ts'
import { LedgerConnection } from './connection.ts'

export function openFleetView(address: LedgerAddress): FleetView {
  const connection = new LedgerConnection(address)
  const isDone = async (text: string, values: readonly unknown[]) =>
    (await connection.query<{ done: boolean }>(text, values))[0]?.done === true
  const publishedBy = async <T>(shape: z.ZodType<T>, call: string, values: readonly unknown[]) =>
    (await connection.query<PublishedRow>(`SELECT o_host_id, o_host, ${call}`, values)).flatMap((row) =>
      readPublished(shape, row, address),
    )
  return {
    listHosts: async ({ countsClaims = false } = {}) =>
      (await connection.query<HostRow>('SELECT * FROM shelfd.hosts_1($1)', [countsClaims])).map(toView),
    readTotals: async () => {
      const [row] = await connection.query<TotalsRow>('SELECT * FROM shelfd.totals_1()')
      return {
        contents: Number(row?.o_contents ?? 0),
        isAbout: row?.o_is_about === true,
        claims: Number(row?.o_claims ?? 0),
        doubts: Number(row?.o_doubts ?? 0),
        secondSends: Number(row?.o_second_sends ?? 0),
        today: Number(row?.o_today ?? 0),
        leaseMs: row?.o_lease_ms ?? 0,
      }
    },
    countSecondSends: async () =>
      Number((await connection.query<{ n: string }>('SELECT shelfd.second_sends_1() AS n'))[0]?.n ?? 0),
    listMirrors: (hostId) => publishedBy(publishedMirror, 'o_state AS published FROM shelfd.mirrors_1($1)', [hostId]),
    listProblems: ({ hostId, limit, sha256 }) =>
      publishedBy(publishedProblem, 'o_problem AS published FROM shelfd.problems_1($1, $2, $3)', [
        ...[hostId, sha256 === undefined ? null : Buffer.from(sha256, 'hex'), limit],
      ]),
    listRuns: ({ hostId, limit }) =>
      publishedBy(publishedRun, 'o_run AS published FROM shelfd.runs_1($1, $2)', [hostId, limit]),
    explainContent: async (sha256) =>
      (await connection.query<FactRow>('SELECT * FROM shelfd.content_1($1)', [Buffer.from(sha256, 'hex')])).map(toFact),
    giveOrder: (hostId, { kind, mirror }) =>
      isDone('SELECT shelfd.give_order_1($1, $2, $3) AS done', [hostId, kind, mirror]),
    forgetHost: async (hostId) => {
      const [row] = await connection.query<{ end: string }>('SELECT shelfd.forget_host_1($1) AS "end"', [hostId])
      return row?.end === 'f' ? 'forgotten' : row?.end === 'r' ? 'runs' : 'unknown'
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  }
}

interface PublishedRow {
  readonly o_host_id: number
  readonly o_host: string
  readonly published: string
}

interface HostRow {
  readonly o_id: number
  readonly o_name: string
  readonly o_version: string
  readonly o_seen: string | null
  readonly o_is_open: boolean
  readonly o_is_silent: boolean
  readonly o_claims: string | null
  readonly o_published: string | null
  readonly o_sent: string
  readonly o_done: string
  readonly o_busy: string
  readonly o_warned: string
  readonly o_stopped: string
  readonly o_waiting: string
  readonly o_problems: string
}

interface TotalsRow {
  readonly o_contents: string
  readonly o_is_about: boolean
  readonly o_claims: string
  readonly o_doubts: string
  readonly o_second_sends: string
  readonly o_today: string
  readonly o_lease_ms: number | null
}

interface FactRow {
  readonly o_kind: string
  readonly o_origin: string
  readonly o_library: string
  readonly o_host: string | null
  readonly o_resource: string | null
  readonly o_code: string | null
  readonly o_message: string | null
  readonly o_at: string | null
}

const FACTS: Readonly<Record<string, ContentFact['kind']>> = {
  s: 'stored',
  c: 'claimed',
  d: 'in-doubt',
  r: 'refused',
  x: 'second-send',
}

function toView(row: HostRow): HostView {
  return {
    id: row.o_id,
    name: boundText(row.o_name),
    version: boundText(row.o_version),
    seenAt: timeOf(row.o_seen),
    isOpen: row.o_is_open,
    isSilent: row.o_is_silent,
    claims: row.o_claims === null ? null : Number(row.o_claims),
    publishedAt: timeOf(row.o_published),
    sentInDay: Number(row.o_sent),
    mirrors: {
      done: Number(row.o_done),
      busy: Number(row.o_busy),
      warned: Number(row.o_warned),
      stopped: Number(row.o_stopped),
    },
    waiting: Number(row.o_waiting),
    problems: Number(row.o_problems),
  }
}

function toFact(row: FactRow): ContentFact {
  return {
    kind: FACTS[row.o_kind] ?? 'stored',
    origin: row.o_origin,
    libraryId: row.o_library,
    host: boundText(row.o_host ?? ''),
    resourceId: row.o_resource,
    code: row.o_code,
    message: row.o_message,
    at: timeOf(row.o_at),
  }
}

/** Parses a record; leaves out one of another shape, such as that of a later version. */
function readPublished<T>(
  shape: z.ZodType<T>,
  { o_host_id: hostId, o_host: host, published }: PublishedRow,
  { onUnreadable }: LedgerAddress,
): (T & OfHost)[] {
  const { data } = shape.safeParse(parseJson(published))
  if (data === undefined) onUnreadable?.('a report', host)
  return data === undefined ? [] : [{ ...data, hostId, host: boundText(host) }]
}

/** Returns null also for a time that no clock can show. */
function timeOf(milliseconds: string | null): number | null {
  return milliseconds === null ? null : (moment.safeParse(milliseconds).data ?? null)
}
