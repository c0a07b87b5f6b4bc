import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { initialise } from '../../src/ledger/postgres/ledger-schema.ts'
import { configure } from './daemon.ts'
import { type FaultyOptions, type FaultyService, startFaultyService } from './faulty-service.ts'
import { type Home, temporaryHome } from './home.ts'
import { createDatabase, type TestDatabase } from './postgres.ts'
import type { Tree } from './temporary.ts'

/** As short as the tests can be sure of on a loaded machine. */
export const LEASE_MS = 2_000

type Settings = Readonly<Record<string, unknown>>

export interface Fleet extends AsyncDisposable {
  readonly service: FaultyService
  readonly database: TestDatabase
  /** A host whose directory "Papers" has these files. */
  host(name: string, papers: Tree, limits?: Settings, mirror?: Settings, more?: Settings): Promise<Home>
  /** Makes such a host, and syncs it; `more`: in the section "fleet". */
  sync(name: string, papers: Tree, exitCode?: number, more?: Settings): Promise<Home>
}

/** Hosts over one service that stores each upload anew, and one ledger, in a database of its own unless one is given. */
export async function fleetOf({
  isCreated = true,
  database: given,
  ...options
}: FaultyOptions & { isCreated?: boolean; database?: TestDatabase } = {}): Promise<Fleet> {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true, ...options })
  const database = given ?? (await createDatabase())
  if (isCreated) await initialise(database.address, LEASE_MS)
  const { user, host, port, database: name } = database.address
  const password = (await database.address.password?.()) ?? ''
  const fleet: Fleet = {
    service,
    database,
    host: async (hostName, papers, limits = {}, mirror = {}, more = {}) => {
      const home = temporaryHome()
      home.write('Papers', papers)
      for (const [file, secret] of [
        ['password', password],
        ['token', service.token],
      ] as const) {
        writeFileSync(join(home.path, file), `${secret}\n`, { mode: 0o600 })
      }
      configure(home, {
        service: { url: service.url, tokenFile: join(home.path, 'token') },
        ingestion: { firstPoll: '5ms' },
        limits,
        mirrors: [{ name: 'papers', path: join(home.path, 'Papers'), library: 'Research', settle: '0s', ...mirror }],
        fleet: {
          database: `postgres://${user}@${host}:${port}/${name}`,
          passwordFile: join(home.path, 'password'),
          host: hostName,
          ...more,
        },
      })
      return home
    },
    sync: async (hostName, papers, exitCode = 0, more = {}) => {
      const home = await fleet.host(hostName, papers, {}, {}, more)
      expect((await home.sync([])).exitCode).toBe(exitCode)
      return home
    },
    [Symbol.asyncDispose]: async () => {
      if (!given) await database[Symbol.asyncDispose]()
    },
  }
  return fleet
}
