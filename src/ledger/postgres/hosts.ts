import type { HostOrder } from '../ledger.ts'
import type { LedgerAddress } from './address.ts'
import { LedgerConnection } from './connection.ts'

export interface HostView {
  readonly id: number
  readonly name: string
  readonly version: string
  /** When its last beat came, by the ledger's clock; null: it has no session. */
  readonly seenAt: number | null
  readonly isOpen: boolean
  /** Contents that it sends, or that are in doubt. */
  readonly claims: number
}

/** Counts over all hosts; `today`: contents that were claimed in the last 24 hours. */
export interface FleetTotals {
  readonly contents: number
  readonly claims: number
  readonly secondSends: number
  readonly today: number
}

/** What people see of a ledger, and do with hosts; without a session. */
export interface FleetView extends AsyncDisposable {
  listHosts(): Promise<HostView[]>
  readTotals(): Promise<FleetTotals>
  /** Gives an order, which the host takes with a renewal, perhaps twice; returns false if there is no such host. */
  giveOrder(hostId: number, order: HostOrder): Promise<boolean>
  /** Closes its session, unless it had a beat within lease and grace. */
  forgetHost(hostId: number): Promise<'forgotten' | 'runs' | 'unknown'>
}

export function openFleetView(address: LedgerAddress): FleetView {
  const connection = new LedgerConnection(address)
  const isDone = async (text: string, values: readonly unknown[]) =>
    (await connection.query<{ done: boolean }>(text, values))[0]?.done === true
  return {
    listHosts: async () => (await connection.query<HostRow>('SELECT * FROM shelfd.hosts_1()')).map(toView),
    readTotals: async () => {
      const [row] = await connection.query<TotalsRow>('SELECT * FROM shelfd.totals_1()')
      const { o_contents = 0, o_claims = 0, o_second_sends = 0, o_today = 0 } = row ?? {}
      const [contents = 0, claims = 0, secondSends = 0, today = 0] = [
        o_contents,
        o_claims,
        o_second_sends,
        o_today,
      ].map(Number)
      return { contents, claims, secondSends, today }
    },
    giveOrder: (hostId, { kind, mirror }) =>
      isDone('SELECT shelfd.give_order_1($1, $2, $3) AS done', [hostId, kind, mirror]),
    forgetHost: async (hostId) => {
      const [row] = await connection.query<{ end: string }>('SELECT shelfd.forget_host_1($1) AS "end"', [hostId])
      return row?.end === 'f' ? 'forgotten' : row?.end === 'r' ? 'runs' : 'unknown'
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  }
}

interface HostRow {
  readonly o_id: number
  readonly o_name: string
  readonly o_version: string
  readonly o_seen: string | null
  readonly o_is_open: boolean
  readonly o_claims: string
}

interface TotalsRow {
  readonly o_contents: string
  readonly o_claims: string
  readonly o_second_sends: string
  readonly o_today: string
}

function toView(row: HostRow): HostView {
  return {
    id: row.o_id,
    name: row.o_name,
    version: row.o_version,
    seenAt: row.o_seen === null ? null : Number(row.o_seen),
    isOpen: row.o_is_open,
    claims: Number(row.o_claims),
  }
}
