/** `npm run planted`: how many seeds the simulation takes to find each planted bug; see docs/development/simulation.md. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { BUGS, type PlantedBug } from './bugs.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
})

interface Hunt {
  readonly bug: PlantedBug
  /** Null: it was not found. */
  readonly caughtBy: string | null
  readonly seeds: number
}

async function hunt(bug: PlantedBug): Promise<Hunt> {
  const plant = new URL('./plant.ts', import.meta.url).href
  const simulate = new URL('../main.ts', import.meta.url).pathname
  const limits = ['--seeds', String(values.seeds), '--jobs', '1', '--until-failure']
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
  const seeds = Number(/^(\d+) seeds from/m.exec(output)?.[1] ?? Number.NaN)
  if (Number.isNaN(seeds)) throw new Error(`"${bug.name}" could not be planted:\n${output}`)
  return { bug, caughtBy, seeds }
}

function render({ bug, caughtBy, seeds }: Hunt): string {
  const end = caughtBy === null ? `not found in ${seeds} seeds` : `${seeds} seeds: ${caughtBy.slice(0, 90)}`
  return `${caughtBy === null ? 'MISSED' : 'caught'}  ${bug.name} (${bug.file}) — ${end}`
}

const queue = BUGS.filter(({ name }) => name.includes(values.only))
const hunts: Hunt[] = []
async function work(): Promise<void> {
  for (let bug = queue.shift(); bug; bug = queue.shift()) {
    const found = await hunt(bug)
    hunts.push(found)
    process.stdout.write(`${render(found)}\n`)
  }
}

await Promise.all(Array.from({ length: Number(values.jobs) }, work))
const caught = hunts.filter(({ caughtBy }) => caughtBy !== null).length
process.stdout.write(`${caught} of ${hunts.length} planted bugs were caught\n`)
process.exitCode = caught === hunts.length ? 0 : 1
