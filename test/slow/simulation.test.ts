import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { FLEET_BUGS } from '../instruments/simulation/planted/fleet-bugs.ts'
import { listFailures } from '../instruments/simulation/run-seeds.ts'

/** `npm test` runs those before it. */
const FIRST_SEED = 301
const SEEDS = Number(process.env.SHELFD_SIMULATION_SEEDS ?? 2_700)
const FLEET_SEEDS = Number(process.env.SHELFD_FLEET_SEEDS ?? 300)
const PROTOCOL_SEEDS = Number(process.env.SHELFD_PROTOCOL_SEEDS ?? 20)

const PATIENT = { timeout: 1_800_000 }

test(
  'no simulated world breaks a promise [P1, P2, P3, P4, P6, P7, P9, P10, P11, P12, P13, P17, P18, P19, P20, P21, P22]',
  PATIENT,
  async () => {
    expect(await listFailures('single', SEEDS, 2, FIRST_SEED)).toEqual([])
  },
)

test('no simulated fleet breaks a promise [P1, P2, P3, P4, P17, P20, P21]', PATIENT, async () => {
  expect(await listFailures('fleet', FLEET_SEEDS)).toEqual([])
})

test('a content that many hosts have is sent once, and none of them starves [P3, P21]', PATIENT, async () => {
  expect(await listFailures('protocol', PROTOCOL_SEEDS)).toEqual([])
})

test.for([
  'a doubt is sent again without a search',
  'partial counts as searchable',
  'what a silent host was sending is sent without a search',
  'a lease is counted from the answer to a renewal',
])('the simulation finds a planted bug: %s', { timeout: 300_000 }, (name) => {
  const plant = new URL('../instruments/simulation/planted/plant.ts', import.meta.url).href
  const main = fileURLToPath(new URL('../instruments/simulation/main.ts', import.meta.url))
  const env = { ...process.env, SHELFD_PLANTED_BUG: name }
  const fleet = FLEET_BUGS.some((bug) => bug.name === name) ? ['--fleet'] : []
  const args = ['--import', plant, main, '--seeds', '500', '--until-failure', ...fleet]
  const { stdout, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  expect(stdout).toMatch(/^seed \d+ broke /m)
  expect(status).toBe(1)
})
