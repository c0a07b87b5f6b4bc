import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { BUGS } from '../instruments/simulation/planted/bugs.ts'
import { FLEET_BUGS } from '../instruments/simulation/planted/fleet-bugs.ts'
import { runSeeds } from '../instruments/simulation/run-seeds.ts'

const SEEDS = Number(process.env.SHELFD_SIMULATION_SEEDS ?? 3_000)
const FLEET_SEEDS = Number(process.env.SHELFD_FLEET_SEEDS ?? 3_000)
const PROTOCOL_SEEDS = Number(process.env.SHELFD_PROTOCOL_SEEDS ?? 20)

describe('simulated worlds', () => {
  test('no simulated world breaks a promise [P1, P2, P3, P4, P6, P9, P10, P11, P12, P17, P18, P19, P20, P21, P22]', {
    timeout: 1_800_000,
  }, async () => {
    const failures: string[] = []
    for await (const { seed, failure } of runSeeds({ from: 1, seeds: SEEDS, jobs: 2 })) {
      if (failure) failures.push(`seed ${seed} broke ${failure.message}; npm run simulate -- --seed ${seed}`)
    }
    expect(failures).toEqual([])
  })
})

describe('simulated fleets', () => {
  test('no simulated fleet breaks a promise [P1, P2, P3, P4, P17, P20, P21]', { timeout: 1_800_000 }, async () => {
    const failures: string[] = []
    for await (const { seed, failure } of runSeeds({ from: 1, seeds: FLEET_SEEDS, jobs: 2, kind: 'fleet' })) {
      if (failure) failures.push(`seed ${seed} broke ${failure.message}; npm run simulate -- --fleet --seed ${seed}`)
    }
    expect(failures).toEqual([])
  })
})

describe('many light hosts', () => {
  test('a content that many hosts have is sent once, and none of them starves [P3, P21]', {
    timeout: 1_800_000,
  }, async () => {
    const failures: string[] = []
    for await (const { seed, failure } of runSeeds({ from: 1, seeds: PROTOCOL_SEEDS, jobs: 2, kind: 'protocol' })) {
      if (failure) failures.push(`seed ${seed} broke ${failure.message}; npm run simulate -- --protocol --seed ${seed}`)
    }
    expect(failures).toEqual([])
  })
})

describe('planted bugs', () => {
  test('each planted bug has a row in the docs', () => {
    const page = readFileSync(new URL('../../docs/development/simulation.md', import.meta.url), 'utf8')
    const [, table = ''] = /\n\| planted bug \|.*\n\|.*\n((?:\|.*\n)+)/.exec(page) ?? []
    const rows = [...table.matchAll(/^\| (.+?) \|/gm)].map(([, name]) => name)
    expect(rows.sort()).toEqual(BUGS.map(({ name }) => name).sort())
  })

  test.for(BUGS)('a planted bug still fits into the code: $name', ({ file, from, to }) => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    expect([source.split(from).length, source.includes(to) && !from.includes(to)]).toEqual([2, false])
  })

  test.for([
    'a doubt is sent again without a search',
    'partial counts as searchable',
    'a wake-up does not end a wait with a time limit',
    'a file is opened through a link',
    'what a silent host was sending is sent without a search',
    'a lease is counted from the answer to a renewal',
  ])('the simulation finds a planted bug: %s', { timeout: 300_000 }, (name) => {
    const plant = new URL('../instruments/simulation/planted/plant.ts', import.meta.url).href
    const main = new URL('../instruments/simulation/main.ts', import.meta.url).pathname
    const env = { ...process.env, SHELFD_PLANTED_BUG: name }
    const fleet = FLEET_BUGS.some((bug) => bug.name === name) ? ['--fleet'] : []
    const args = ['--import', plant, main, '--seeds', '500', '--until-failure', ...fleet]
    const { stdout, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    expect(stdout).toMatch(/^seed \d+ broke /m)
    expect(status).toBe(1)
  })
})
