import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { initialise } from '../../../src/ledger/postgres/ledger-schema.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres.ts'
import { POSTGRES_VARIABLE, stopServer } from '../../support/postgres-server.ts'
import type { Workspace } from './workspace.ts'

const LEASE_MS = 60_000
const TICKS_PER_SECOND = 100

/** A PostgreSQL of its own, on the disk of the workspace, and a ledger on it. */
export interface BenchLedger extends AsyncDisposable {
  readonly database: TestDatabase
  /** Processor time of the server with all its processes since its start; NaN where the system doesn't report it. */
  cpuSeconds(): number
}

export async function openBenchLedger(workspace: Workspace): Promise<BenchLedger> {
  const directory = workspace.fresh('postgres')
  mkdirSync(directory)
  // PostgreSQL does not run as root.
  chmodSync(workspace.path, 0o711)
  process.env[POSTGRES_VARIABLE] = directory
  const data = join(directory, 'npm', 'data')
  const quit = () => void stopServer(data)
  process.prependOnceListener('exit', quit)
  const database = await createLedger()
  const pid = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0] ?? ''
  return {
    database,
    cpuSeconds: () => cpuSecondsOf(pid),
    [Symbol.asyncDispose]: async () => {
      process.off('exit', quit)
      delete process.env[POSTGRES_VARIABLE]
      await stopServer(data)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A database of its own with an empty ledger, on the same server. */
export async function createLedger(): Promise<TestDatabase> {
  const database = await createDatabase()
  await initialise(database.address, LEASE_MS)
  return database
}

/** What a process needs in order to ask a ledger, as JSON. */
export interface ClientAddress {
  readonly port: number
  readonly database: string
  readonly password: string
}

export async function clientAddress({ address }: TestDatabase): Promise<ClientAddress> {
  return { port: address.port, database: address.database, password: (await address.password?.()) ?? '' }
}

/** The section `fleet` of a configuration; writes the password into `directory`. */
export function fleetSection({ port, database, password }: ClientAddress, directory: string) {
  const passwordFile = join(directory, 'ledger-password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  return { database: `postgres://postgres@127.0.0.1:${port}/${database}`, passwordFile, host: 'bench' }
}

/** Of the server, of its processes, and of those that have ended. */
function cpuSecondsOf(pid: string): number {
  const [own] = readTimes(pid)
  if (!own) return Number.NaN
  const ofChildren = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readTimes)
    .filter(({ parent }) => parent === pid)
  return ofChildren.reduce((sum, { ticks }) => sum + ticks, own.ticks + own.ticksOfEnded) / TICKS_PER_SECOND
}

/** Fields 4 and 14 to 17 of Linux's /proc/PID/stat; nothing for a process that is gone. */
function readTimes(pid: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields.slice(11, 15).map(Number)
    return [{ parent: fields[1], ticks: user + system, ticksOfEnded: userOfEnded + systemOfEnded }]
  } catch {
    return []
  }
}
