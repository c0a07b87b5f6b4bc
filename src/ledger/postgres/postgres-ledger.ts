import { z } from 'zod'
import type {
  ClaimLimits,
  ClaimResult,
  DisputedOutcome,
  FleetLimits,
  FollowUp,
  HostIdentity,
  HostOrder,
  Ledger,
  LedgerLibrary,
  OpenedSession,
  Renewal,
  ServiceUse,
  SessionBeat,
  UploadEnd,
  WantedContent,
} from '../ledger.ts'
import { MAX_PUBLISHED, type Published, type PublishedMirror, type PublishedProblem } from '../published.ts'
import type { LedgerAddress } from './address.ts'
import {
  boundText,
  type ClaimRow,
  decodeClaim,
  decodeFollowUp,
  encodeContents,
  encodeEnds,
  type FollowUpRow,
} from './call-encoding.ts'
import { LedgerConnection } from './connection.ts'

/** Returns a ledger that connects with its first call. It uses two connections, so that a long claim delays no beat. */
export function postgresLedger(address: LedgerAddress): Ledger {
  return new PostgresLedger(address)
}

class PostgresLedger implements Ledger {
  readonly #work: LedgerConnection
  readonly #beats: LedgerConnection
  readonly #onUnreadable: LedgerAddress['onUnreadable']
  /** The number of the last order that a renewal brought. */
  #taken = 0n

  constructor(address: LedgerAddress) {
    this.#work = new LedgerConnection(address)
    this.#beats = new LedgerConnection(address)
    this.#onUnreadable = address.onUnreadable
  }

  async open(host: HostIdentity, previous: bigint | null): Promise<OpenedSession> {
    const { key, name, version, place, isRestored = false } = host
    const values = [key, boundText(name), boundText(version), previous, place, isRestored]
    const [row] = await this.#work.query<OpenRow>('SELECT * FROM shelfd.open_1($1, $2, $3, $4, $5, $6)', values)
    if (!row) throw new Error('The ledger returned no session')
    this.#taken = 0n
    return {
      session: BigInt(row.o_session),
      hostId: row.o_host,
      settled: BigInt(row.o_settled),
      generation: row.o_generation,
      timeline: row.o_timeline,
      leaseMs: row.o_lease_ms,
      hasMoved: row.o_has_moved,
    }
  }

  async renew(session: bigint, use?: ServiceUse): Promise<Renewal> {
    const values = [session, this.#taken, use?.origin, Math.ceil(use?.waitLeftMs ?? 0), use?.isBusy ?? false]
    const rows = await this.#beats.query<RenewRow>('SELECT * FROM shelfd.renew_1($1, $2, $3, $4, $5)', values)
    this.#taken = BigInt(rows.at(-1)?.o_order ?? this.#taken)
    const [first] = rows
    return {
      isOpen: first?.o_is_ours === true,
      orders: rows.flatMap((row) => this.#readOrder(row)),
      waitMs: Number(first?.o_wait_ms ?? 0),
      busyOthers: first?.o_busy_others ?? 0,
    }
  }

  #readOrder({ o_order, o_kind: kind, o_mirror: mirror }: RenewRow): HostOrder[] {
    if (o_order === null) return []
    const { data } = hostOrder.safeParse({ kind, mirror })
    if (!data) this.#onUnreadable?.('an order', '')
    return data ? [data] : []
  }

  async claim(
    session: bigint,
    library: LedgerLibrary,
    contents: readonly WantedContent[],
    { newPerDay, atMost }: ClaimLimits,
  ): Promise<ClaimResult[]> {
    if (contents.length === 0) return []
    const { mimes, sha256, mime, places, rank, rows } = encodeContents(contents, true)
    const found = await this.#work.query<ClaimRow>(
      'SELECT * FROM shelfd.claim_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
      [...[session, ...valuesOf(library), mimes, sha256, mime, places, rank, newPerDay, atMost]],
    )
    return pickResults(found, rows)
  }

  async peek(
    library: LedgerLibrary,
    contents: readonly WantedContent[],
    { newPerDay }: FleetLimits,
  ): Promise<ClaimResult[]> {
    if (contents.length === 0) return []
    const { mimes, sha256, mime, rows } = encodeContents(contents, false)
    const found = await this.#work.query<ClaimRow>('SELECT * FROM shelfd.peek_1($1, $2, $3, $4, $5, $6, $7)', [
      ...[...valuesOf(library), mimes, sha256, mime, newPerDay],
    ])
    return pickResults(found, rows)
  }

  async settle(session: bigint, batch: bigint, ends: readonly UploadEnd[]): Promise<DisputedOutcome[]> {
    const { values, order } = encodeEnds(ends)
    const placeholders = values.map((_, index) => `$${index + 3}`).join(', ')
    const rows = await this.#work.query<{ o_nth: number; o_is_late: boolean; o_resource: string | null }>(
      `SELECT * FROM shelfd.settle_1($1, $2, ${placeholders})`,
      [session, batch, ...values],
    )
    return rows.map(({ o_nth, o_is_late, o_resource }) => ({
      index: order[o_nth - 1] ?? -1,
      isLate: o_is_late,
      resourceId: o_resource ?? undefined,
    }))
  }

  async close(session: bigint): Promise<void> {
    await this.#work.query('SELECT shelfd.close_1($1)', [session])
  }

  async closeSilent({ session, beat }: SessionBeat): Promise<boolean> {
    const rows = await this.#beats.query<{ closed: boolean }>('SELECT shelfd.close_silent_1($1, $2) AS closed', [
      session,
      beat,
    ])
    return rows[0]?.closed === true
  }

  async takeFollowUps(
    session: bigint,
    library: LedgerLibrary,
    resourceIds: readonly string[],
  ): Promise<ReadonlyMap<string, FollowUp>> {
    if (resourceIds.length === 0) return new Map()
    const rows = await this.#work.query<FollowUpRow>('SELECT * FROM shelfd.take_follow_ups_1($1, $2, $3, $4, $5)', [
      ...[session, ...valuesOf(library), resourceIds],
    ])
    return new Map(rows.map((row) => [row.o_resource, decodeFollowUp(row)]))
  }

  async publish(session: bigint, published: Published): Promise<void> {
    const values = [session, ...encodePublished(published)]
    const placeholders = values.map((_, index) => `$${index + 1}`).join(', ')
    await this.#work.query(`SELECT shelfd.publish_1(${placeholders})`, values)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#work[Symbol.asyncDispose](), this.#beats[Symbol.asyncDispose]()])
  }
}

const hostOrder = z.object({ kind: z.enum(['pause', 'resume', 'sync']), mirror: z.string().max(1_024).nullable() })

interface OpenRow {
  readonly o_session: string
  readonly o_host: number
  readonly o_settled: string
  readonly o_generation: string
  readonly o_timeline: number
  readonly o_lease_ms: number
  readonly o_has_moved: boolean
}

interface RenewRow {
  readonly o_is_ours: boolean
  readonly o_order: string | null
  readonly o_kind: string | null
  readonly o_mirror: string | null
  readonly o_wait_ms: string
  readonly o_busy_others: number
}

function valuesOf({ origin, tenantId, remoteId }: LedgerLibrary): unknown[] {
  return [origin, tenantId, remoteId]
}

function pickResults(found: readonly ClaimRow[], rows: readonly number[]): ClaimResult[] {
  const results = new Array<ClaimResult | undefined>(rows.length + 1)
  for (const row of found) results.fill(decodeClaim(row), row.o_nth, row.o_last + 1)
  return rows.map((row) => results[row] ?? { kind: 'elsewhere', host: '', owner: undefined })
}

const MAX_BYTES = { state: 4_096, problem: 12_288, run: 8_192 }
const MAX_TEXT = 500

function encodePublished({ sentInDay, mirrors, problems, runs }: Published): unknown[] {
  const states = mirrors.slice(0, MAX_PUBLISHED.mirrors).flatMap((mirror) => {
    const text = textWithin(boundMirror(mirror), MAX_BYTES.state)
    return text === undefined ? [] : [{ ...mirror, text }]
  })
  const shown = problems && [...numberProblems(problems)].slice(0, MAX_PUBLISHED.problemsInAll)
  const past = runs?.slice(0, MAX_PUBLISHED.runs).flatMap((run) => {
    const text = textWithin(run, MAX_BYTES.run) ?? textWithin({ ...run, mirrors: [] }, MAX_BYTES.run)
    return text === undefined ? [] : [{ startedMs: Date.parse(run.startedAt), text }]
  })
  return [
    sentInDay,
    states.map(({ name }) => boundText(name)),
    states.map(({ state }) => state.sign),
    states.map(({ queue }) => queue.contents),
    states.map((mirror) => mirror.problems),
    states.map(({ text }) => text),
    shown?.map(({ mirror }) => boundText(mirror)),
    shown?.map(({ nth }) => nth),
    shown?.map(({ content }) => content && Buffer.from(content.sha256, 'hex')),
    shown?.map(({ text }) => text),
    past?.map(({ startedMs }) => startedMs),
    past?.map(({ text }) => text),
  ]
}

function* numberProblems(problems: readonly PublishedProblem[]) {
  const last = new Map<string, number>()
  for (const problem of problems) {
    const nth = (last.get(problem.mirror) ?? 0) + 1
    const text = textWithin({ ...problem, message: boundText(problem.message) }, MAX_BYTES.problem)
    if (nth > MAX_PUBLISHED.problems || text === undefined) continue
    last.set(problem.mirror, nth)
    yield { ...problem, nth, text }
  }
}

function boundMirror({ state, path, ...mirror }: PublishedMirror): PublishedMirror {
  const isLong = path !== null && Buffer.byteLength(path) > MAX_TEXT
  return { ...mirror, path: isLong ? boundText(path) : path, state: { ...state, text: boundText(state.text) } }
}

/** Returns `value` as JSON; undefined if it is too long. PostgreSQL accepts it, because JSON escapes NUL and halves of surrogate pairs. */
function textWithin(value: object, maxBytes: number): string | undefined {
  const text = JSON.stringify(value)
  return Buffer.byteLength(text) <= maxBytes ? text : undefined
}
