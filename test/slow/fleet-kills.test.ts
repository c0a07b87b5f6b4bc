/** Real processes over one ledger, killed and stopped wherever they are; `npm run fleet-kills` does it for longer, with crashes of PostgreSQL. */
import { expect, test } from 'vitest'
import { initialise } from '../../src/ledger/postgres/ledger-schema.ts'
import { runFleet } from '../instruments/kills/fleet.ts'
import { createDatabase, needsPostgres } from '../support/postgres.ts'
import { MAIN } from '../support/run-shelfd.ts'
import { temporaryDirectory } from '../support/temporary.ts'

needsPostgres()

const LEASE_MS = 1_500

test('of hosts that are killed and stopped at any moment, none sends what another has sent, and nothing is lost [P1, P2, P3, P4]', async () => {
  await using database = await createDatabase()
  await initialise(database.address, LEASE_MS)
  const result = await runFleet({
    ...{ at: temporaryDirectory(), program: MAIN, address: database.address, leaseMs: LEASE_MS },
    ...{ hosts: 4, contents: 200, durationMs: 30_000, killShare: 0.12, stopShare: 0.25, random: Math.random },
  })
  expect(result.complaints).toEqual([])
  expect(result.kills + result.stops).toBeGreaterThan(0)
}, 180_000)
