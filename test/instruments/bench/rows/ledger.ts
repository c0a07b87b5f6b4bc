import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { startPooler } from '../../../support/postgres.ts'
import { findProgram } from '../../../support/programs.ts'
import { print } from '../../instrument.ts'
import type { Bench } from '../bench.ts'
import { type BenchLedger, clientAddress, createLedger, fleetSection, openBenchLedger } from '../bench-ledger.ts'
import type { ChildMeasure } from '../children/bench-engine.ts'
import type { SessionsMeasure, SessionsWork } from '../children/claim-by-sessions.ts'
import type { ClaimMeasure, ClaimWork } from '../children/claim-contents.ts'
import { LIBRARY, MIME } from '../children/ledger-client.ts'
import { compareInPairs, median } from '../pairs.ts'
import {
  comparisonCells,
  missingPeer,
  type ResultRow,
  resultRow,
  showRatio,
  verdict,
  verdictOnRatios,
} from '../result-table.ts'
import { runProcess } from '../run-process.ts'
import { chooseSubtree } from '../trees.ts'

const CLAIM = fileURLToPath(new URL('../children/claim-contents.ts', import.meta.url))
const SESSIONS = fileURLToPath(new URL('../children/claim-by-sessions.ts', import.meta.url))
const UPLOAD = fileURLToPath(new URL('../children/upload-files.ts', import.meta.url))

const CLIENTS = 8
const CONTENTS_A_CALL = 500
const CALLS = 40
const FILLED_AT_ONCE = 500_000
const BY_DEFAULT = 200_000
/** Larger than what is claimed: the limit is counted, and holds nothing back. */
const PER_DAY = 1_000_000_000

const MIN_RATE = 15_000
const MIN_RATE_WITH_LIMIT = 12_000
const MAX_SERVER_US = 70
const MAX_CLIENT_US = 15

const SESSION_COUNT = 1_000
const CONTENTS_A_SESSION_CALL = 20
const SESSION_CALLS_EACH_MS = 5_000
const SESSION_CALLS = 6
const MAX_WAIT_MS = 50

const WANTED_FILES = 5_700
const MIN_UPLOAD_RATIO = 0.95
const MIN_SHARED_RATIO = 0.8

/**
 * Claims and settlements by the client of the program on a real PostgreSQL: by some hosts as fast as they can, by a thousand at an even
 * pace, and of a host that uploads, beside the same without a ledger.
 */
export async function ledger(bench: Bench): Promise<ResultRow[]> {
  await using opened = await openBenchLedger(bench.workspace)
  const { contents = BY_DEFAULT, quick } = bench.options
  const bytes = await fill(opened, contents)
  const calls = quick ? 4 : CALLS
  const work = {
    ...{ address: await clientAddress(opened.database), calls, contentsACall: CONTENTS_A_CALL },
    settles: true,
  }
  const plain = await claimByAll(opened, { ...work, salt: 'plain', newPerDay: null })
  const limited = await claimByAll(opened, { ...work, salt: 'limited', newPerDay: PER_DAY })
  const again = await claimByAll(opened, { ...work, salt: 'plain', newPerDay: null, settles: false })
  return [
    ...rowsOf(`claim + settle, ${CLIENTS} × ${CONTENTS_A_CALL}, ${thousands(contents)} contents`, plain, MIN_RATE),
    ...rowsOf('the same with a limit of a day', limited, MIN_RATE_WITH_LIMIT),
    ...rowsOf('asked again, when all are stored', again),
    resultRow({ work: 'ledger: bytes a content', ours: bytes }),
    ...(await bySessions(bench, opened)),
    ...(await besideUploads(bench, opened)),
  ]
}

/** Fills the library of all rows; returns the bytes that a content takes. */
async function fill({ database }: BenchLedger, contents: number): Promise<string> {
  const { origin, tenantId, remoteId } = LIBRARY
  // The ledger is new, and numbers its services, libraries and MIME types from 1.
  await database.run('INSERT INTO shelfd.service (id, origin, tenant_id) VALUES (1, $1, $2)', [origin, tenantId])
  await database.run('INSERT INTO shelfd.library (id, service_id, remote_id) VALUES (1, 1, $1)', [remoteId])
  await database.run('INSERT INTO shelfd.mime (id, name) VALUES (1, $1)', [MIME])
  for (let start = 0; start < contents; start += FILLED_AT_ONCE) {
    const end = Math.min(contents, start + FILLED_AT_ONCE)
    await database.run(
      `INSERT INTO shelfd.content SELECT 1, sha256(int8send(i)), 1, 4000, gen_random_uuid()::text, 's', 1 FROM generate_series($1::bigint, $2::bigint) i`,
      [start + 1, end],
    )
    print(`ledger: ${thousands(end)} contents`)
  }
  await database.run('VACUUM ANALYZE shelfd.content')
  await database.run('CHECKPOINT')
  const [size] = await database.run(
    `SELECT pg_table_size(c.oid) AS heap, string_agg(pg_relation_size(i.indexrelid)::text, ' ' ORDER BY NOT i.indisprimary) AS indexes
      FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid WHERE c.oid = 'shelfd.content'::regclass GROUP BY c.oid`,
  )
  const each = [Number(size?.heap), ...String(size?.indexes).split(' ').map(Number)].map((all) =>
    Math.round(all / contents),
  )
  return `${each[0]} + ${each[1]} key + ${each[2]} resource`
}

interface ClaimedByAll {
  readonly contents: number
  readonly seconds: number
  readonly serverSeconds: number
  readonly clients: readonly ClaimMeasure[]
}

async function claimByAll(
  { cpuSeconds }: BenchLedger,
  work: Omit<ClaimWork, 'salt'> & { readonly salt: string },
): Promise<ClaimedByAll> {
  const children = Array.from({ length: CLIENTS }, (_, index) => {
    const input: ClaimWork = { ...work, salt: `${work.salt} ${index}` }
    return fork(CLAIM, [JSON.stringify(input)])
  })
  await Promise.all(children.map((child) => once(child, 'message')))
  const before = cpuSeconds()
  const startMs = performance.now()
  const ends = children.map(async (child): Promise<ClaimMeasure> => (await once(child, 'message'))[0])
  for (const child of children) child.send('go')
  const clients = await Promise.all(ends)
  const seconds = (performance.now() - startMs) / 1_000
  const serverSeconds = cpuSeconds() - before
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')))
  const contents = CLIENTS * work.calls * work.contentsACall
  const right = work.settles ? 'mine' : 'stored'
  const answered = clients.reduce((sum, { answers }) => sum + (answers[right] ?? 0), 0)
  if (answered !== contents) throw new Error(`${contents - answered} of ${contents} contents are not ${right}`)
  return { contents, seconds, serverSeconds, clients }
}

function rowsOf(
  work: string,
  { contents, seconds, serverSeconds, clients }: ClaimedByAll,
  least?: number,
): ResultRow[] {
  const rate = contents / seconds
  const serverUs = (serverSeconds / contents) * 1e6
  const clientUs = (clients.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) / contents) * 1e6
  const claims = describeWaits(clients.flatMap(({ claimMs }) => claimMs))
  return [
    resultRow({
      ...{ work, ours: `${Math.round(rate)} contents/s; claims ${claims}` },
      ...(least !== undefined && { target: `≥ ${least} contents/s`, verdict: verdict(rate >= least) }),
    }),
    resultRow({
      work: `${work}: processor time a content`,
      ours: `PostgreSQL ${serverUs.toFixed(0)} µs, client ${clientUs.toFixed(1)} µs`,
      ...(least !== undefined && {
        target: `≤ ${MAX_SERVER_US} µs and ≤ ${MAX_CLIENT_US} µs`,
        verdict: verdict(serverUs <= MAX_SERVER_US && clientUs <= MAX_CLIENT_US),
      }),
    }),
  ]
}

/** Many sessions, each of which calls at moments of its own, over PgBouncer. */
async function bySessions({ options: { quick } }: Bench, opened: BenchLedger): Promise<ResultRow[]> {
  const sessions = quick ? SESSION_COUNT / 10 : SESSION_COUNT
  const work = `claims of ${CONTENTS_A_SESSION_CALL} by ${thousands(sessions)} sessions`
  if (findProgram('pgbouncer') === undefined) return [missingPeer(work, 'PgBouncer')]
  const direct = await clientAddress(opened.database)
  await using pooler = await startPooler(opened.database.address)
  const input: SessionsWork = {
    ...{ address: { ...direct, port: pooler.port }, sessions, contentsACall: CONTENTS_A_SESSION_CALL },
    ...{ everyMs: SESSION_CALLS_EACH_MS, callsEach: quick ? 2 : SESSION_CALLS },
  }
  const { stdout } = await runProcess([process.execPath, SESSIONS, JSON.stringify(input)])
  const { claimMs, settleMs, renewMs, contents, seconds }: SessionsMeasure = JSON.parse(stdout)
  const rate = Math.round(contents / seconds)
  return [
    resultRow({
      work: `${work}, ${rate} contents/s, through PgBouncer`,
      ours: describeWaits(claimMs),
      target: `99 % ≤ ${MAX_WAIT_MS} ms`,
      verdict: verdict(quantile(claimMs, 0.99) <= MAX_WAIT_MS),
    }),
    resultRow({ work: 'their settlements', ours: describeWaits(settleMs) }),
    resultRow({ work: 'their beats', ours: describeWaits(renewMs) }),
  ]
}

/** The uploads of one host with a ledger, beside the same without. */
async function besideUploads(bench: Bench, opened: BenchLedger): Promise<ResultRow[]> {
  // The contents of the other rows are of another library, and their tables of another size.
  const database = await createLedger()
  const tree = chooseSubtree(bench.tree, WANTED_FILES)
  const directory = bench.workspace.fresh('fleet')
  mkdirSync(directory)
  const configFile = join(directory, 'config.yaml')
  writeFileSync(configFile, stringify({ fleet: fleetSection(await clientAddress(database), directory) }))
  const rows: ResultRow[] = []
  for (const transfers of [8, 32]) {
    const upload = async (more: object) => {
      const stateDir = bench.workspace.fresh('state')
      const input = { tree, stateDir, serviceUrl: bench.service.url, transfers, ...more }
      const { stdout } = await runProcess([process.execPath, UPLOAD, JSON.stringify(input)])
      const { seconds, cpuSeconds, files }: ChildMeasure = JSON.parse(stdout)
      return { seconds: seconds / files, cpuSeconds: cpuSeconds / files, files }
    }
    const shared: { readonly seconds: number; readonly serverSeconds: number }[] = []
    const withLedger = async () => {
      await emptyLedger(database)
      const before = opened.cpuSeconds()
      const { seconds, cpuSeconds, files } = await upload({ configFile })
      const serverSeconds = (opened.cpuSeconds() - before) / files
      shared.push({ seconds, serverSeconds })
      // What PostgreSQL takes of the processors that it shares with the host here.
      return { seconds: seconds - serverSeconds / availableParallelism(), cpuSeconds }
    }
    const compared = await compareInPairs(bench.options.runs, withLedger, () => upload({}))
    const measured = shared.slice(1)
    const sharedSeconds = median(measured.map(({ seconds }) => seconds))
    const serverUs = median(measured.map(({ serverSeconds }) => serverSeconds)) * 1e6
    const beside = { peer: 'without a ledger', theirs: showRate(compared.theirsSeconds) }
    const sharedRatio = compared.theirsSeconds / sharedSeconds
    rows.push(
      resultRow({
        ...{ work: `uploads with a ledger, ${transfers} at once, without PostgreSQL's own time`, ...beside },
        ours: showRate(compared.oursSeconds),
        ...comparisonCells(compared),
        ratio: showRatio(1 / compared.timeRatio),
        target: `≥ ${MIN_UPLOAD_RATIO} ×`,
        verdict: verdictOnRatios(compared.timeRatios, (timeRatio) => 1 / timeRatio >= MIN_UPLOAD_RATIO),
      }),
      resultRow({
        ...{ work: `the same, PostgreSQL (${serverUs.toFixed(0)} µs a file) on the same processors`, ...beside },
        ours: showRate(sharedSeconds),
        ratio: showRatio(sharedRatio),
        target: `≥ ${MIN_SHARED_RATIO} ×`,
        verdict: verdict(sharedRatio >= MIN_SHARED_RATIO),
      }),
    )
  }
  return rows
}

/** Forgets hosts and contents, so that the next host finds none. */
async function emptyLedger({ run }: { run(sql: string): Promise<unknown> }): Promise<void> {
  const tables = ['host', 'session', 'content', 'claim', 'service_wait', 'spend', 'extra_send', 'refusal']
  await run(`TRUNCATE ${tables.map((name) => `shelfd.${name}`).join(', ')}`)
}

function describeWaits(times: readonly number[]): string {
  const shown = (share: number) => quantile(times, share).toFixed(quantile(times, share) < 10 ? 1 : 0)
  return `${shown(0.5)} / ${shown(0.99)} ms (50 / 99 %)`
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? Number.NaN
}

function showRate(secondsPerFile: number): string {
  return `${Math.round(1 / secondsPerFile)} files/s`
}

function thousands(count: number): string {
  return count.toLocaleString('en')
}
