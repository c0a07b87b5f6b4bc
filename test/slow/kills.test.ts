/** The real program, killed wherever it can be; `npm run kills` does the same at random moments. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  MIGRATION_CHANGES,
  SERVICE_MOMENTS,
  type ServiceMoment,
  STATE_CHANGES,
  type StateChange,
} from '../instruments/kills/crash-points.ts'
import { type Harm, isKill, nameOf } from '../instruments/kills/harm.ts'
import { runLibraryKills } from '../instruments/kills/library.ts'
import { type RoundPlan, runRound } from '../instruments/kills/round.ts'
import { needs } from '../support/needs.ts'
import { copyWithMigration } from '../support/next-version.ts'
import { MAIN } from '../support/run-shelfd.ts'
import { compileStateFaults } from '../support/state-faults.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** Before a file has its name or loses it; after half of a write; between a flush and the change that relies on it. */
function killAt([of]: StateChange): Harm {
  const harm = of.startsWith('write') ? 'tear' : of.startsWith('sync') ? 'kill-after' : 'kill'
  return { kind: 'state', fault: { of, at: 1, harm } }
}

function killWhen(moment: ServiceMoment): Harm {
  return { kind: 'service', moment, nth: 1 }
}

/** The service is asked for a listing only in a first run, and for a download only after a kill that left an upload in doubt. */
const LATER_MOMENTS = [
  ...SERVICE_MOMENTS.filter((moment) => !['access asked', 'listing asked', 'download asked'].includes(moment)),
  'upload stored',
  'download asked',
] as const
const FIRST_MOMENTS = ['access asked', 'directory made', 'upload begun', 'upload stored'] as const

const PLANS = [
  { seed: 1, harms: STATE_CHANGES.map(killAt) },
  { seed: 2, harms: [...MIGRATION_CHANGES.map(killAt), ...FIRST_MOMENTS.map(killWhen)], isOld: true },
  // A whole run before the later ones leaves nothing to do for them but what the tree gets for each.
  {
    seed: 3,
    harms: [killWhen('access asked'), killWhen('listing asked'), { kind: 'pair' }, ...LATER_MOMENTS.map(killWhen)],
  },
] satisfies readonly Pick<RoundPlan, 'seed' | 'harms' | 'isOld'>[]

describe('kills at any moment', () => {
  test.runIf(process.platform === 'linux')(
    'a killed process loses nothing and sends nothing twice [P1, P2, P3, P4, P8, P17, P18, F-PR-03]',
    async () => {
      needs('gcc')
      const directory = temporaryDirectory()
      const layer = compileStateFaults(directory)
      const next = copyWithMigration(MAIN, join(directory, 'next'))
      const rounds = PLANS.map((plan) => {
        const at = join(directory, `round-${plan.seed}`)
        return runRound({ ...plan, program: plan.isOld ? next : MAIN, layer, at })
      })
      const results = await Promise.all(rounds)
      expect(results.flatMap(({ complaints }) => complaints)).toEqual([])
      expect(results.map(({ done }) => done)).toEqual(PLANS.map(({ harms }) => harms.map(nameOf)))
      expect(results.reduce((sum, { kills }) => sum + kills, 0)).toBe(
        PLANS.flatMap(({ harms }) => harms).filter(isKill).length,
      )
    },
    300_000,
  )

  test.runIf(process.platform === 'linux')(
    'a killed sync into the library of this computer loses nothing and stores nothing twice [P1, P3]',
    async () => {
      needs('gcc')
      const at = temporaryDirectory()
      const plan = { kills: 6, atOnce: 2, seed: 7, at, program: MAIN, layer: compileStateFaults(at) }
      const { kills, complaints } = await runLibraryKills(plan)
      expect(complaints).toEqual([])
      expect(kills).toBeGreaterThanOrEqual(6)
    },
    300_000,
  )
})
