/** `npm run fleet-kills`: kills and stops hosts of one ledger, and crashes PostgreSQL, again and again; see docs/development/kills.md. */
import { z } from 'zod'
import { initialise } from '../../../src/ledger/postgres/ledger-schema.ts'
import { compileProgram } from '../../support/compiled-program.ts'
import { crashServer, createDatabase } from '../../support/postgres.ts'
import startPostgres from '../../support/postgres-server.ts'
import { seededRandom } from '../../support/random.ts'
import { openWorkspace } from '../bench/workspace.ts'
import { anyNumber, describeMachine, print, runInstrument, stopSignal, wholeNumber } from '../instrument.ts'
import { runFleet } from './fleet.ts'

const OPTIONS = z.object({
  minutes: anyNumber(0.1, 10_000).default(10).describe('how long hosts are killed and stopped'),
  hosts: wholeNumber(2, 64).default(8),
  contents: wholeNumber(10, 1_000_000).default(4_000),
  seed: wholeNumber(0, 2 ** 32)
    .default(1)
    .describe('seed of what is random; when something happens is up to the machine'),
})

const LEASE_MS = 1_500
/** Each fleet has a database and a service of its own. */
const ROUND_MS = 120_000
/** Only where few are killed, hosts live long enough to take over what a stopped one had claimed. */
const MOSTLY_STOPS = { killShare: 0.02, stopShare: 0.3 }
const MOSTLY_KILLS = { killShare: 0.3, stopShare: 0.1 }

async function kill({ minutes, hosts, contents, seed }: z.infer<typeof OPTIONS>): Promise<boolean> {
  const signal = stopSignal()
  using workspace = openWorkspace('fleet-kills')
  const program = await compileProgram(workspace.fresh('program'))
  const stopPostgres = startPostgres()
  print(`${describeMachine()}; ${hosts} hosts, seed ${seed}`)
  const total = { kills: 0, stops: 0, takeOvers: 0, crashes: 0, uploads: 0, twice: 0, told: 0 }
  let broken = 0
  try {
    const endMs = performance.now() + minutes * 60_000
    for (let round = 0; performance.now() < endMs; round += 1) {
      await using database = await createDatabase()
      await initialise(database.address, LEASE_MS)
      const result = await runFleet({
        ...{ at: workspace.fresh('round'), program, address: database.address, leaseMs: LEASE_MS, hosts, contents },
        durationMs: Math.min(ROUND_MS, endMs - performance.now()),
        ...(round % 2 === 0 ? MOSTLY_STOPS : MOSTLY_KILLS),
        ...{ random: seededRandom(seed + round), crash: crashServer, signal },
      })
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += result[key]
      broken += result.complaints.length
      const counts = Object.entries(total).map(([name, count]) => `${count} ${name}`)
      print(`${counts.join(', ')}; ${broken} broken promises`)
      for (const complaint of result.complaints) print(`  ${complaint.trimEnd().replaceAll('\n', '\n    ')}`)
    }
  } finally {
    await stopPostgres()
  }
  return broken === 0
}

await runInstrument('fleet-kills', OPTIONS, kill)
