/** `npm run planted`: how many seeds the simulation takes to find each planted bug; see docs/development/simulation.md. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { flag, print, runInstrument, wholeNumber } from '../../instrument.ts'
import { BUGS } from './bugs.ts'
import { FLEET_BUGS, type PlantedBug } from './fleet-bugs.ts'

const OPTIONS = z.object({
  seeds: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10_000).describe('the most seeds for a bug'),
  only: z.string().default('').describe('only the bugs whose names contain this'),
  fleet: flag().describe('only those of hosts that share a ledger'),
  jobs: wholeNumber(1, 1_000).default(availableParallelism()).describe('bugs at the same time'),
})

interface Hunt {
  readonly bug: PlantedBug
  /** Null: it was not found. */
  readonly caughtBy: string | null
  readonly seeds: number
}

async function hunt(bug: PlantedBug, seeds: number): Promise<Hunt> {
  const plant = new URL('./plant.ts', import.meta.url).href
  const simulate = new URL('../main.ts', import.meta.url).pathname
  const limits = [
    '--seeds',
    String(seeds),
    '--jobs',
    '1',
    '--until-failure',
    ...(FLEET_BUGS.includes(bug) ? ['--fleet'] : []),
  ]
  const env = { ...process.env, SHELFD_PLANTED_BUG: bug.name }
  const child = spawn(process.execPath, ['--import', plant, simulate, ...limits], { env })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += String(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output += String(chunk)
  })
  await once(child, 'exit')
  const caughtBy = /^seed \d+ broke ([^\n]*)/m.exec(output)?.[1] ?? null
  const seedsRun = Number(/^(\d+) seeds from/m.exec(output)?.[1] ?? Number.NaN)
  if (Number.isNaN(seedsRun)) throw new Error(`"${bug.name}" could not be planted:\n${output}`)
  return { bug, caughtBy, seeds: seedsRun }
}

function render({ bug, caughtBy, seeds }: Hunt): string {
  const end = caughtBy === null ? `not found in ${seeds} seeds` : `${seeds} seeds: ${caughtBy.slice(0, 90)}`
  return `${caughtBy === null ? 'MISSED' : 'caught'}  ${bug.name} (${bug.file}) — ${end}`
}

await runInstrument('planted', OPTIONS, async ({ seeds, only, fleet, jobs }) => {
  const queue = (fleet ? FLEET_BUGS : BUGS).filter(({ name }) => name.includes(only)).values()
  const hunts: Hunt[] = []
  const work = async () => {
    for (const bug of queue) {
      const found = await hunt(bug, seeds)
      hunts.push(found)
      print(render(found))
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  const caught = hunts.filter(({ caughtBy }) => caughtBy !== null).length
  print(`${caught} of ${hunts.length} planted bugs were caught`)
  return caught === hunts.length
})
