import type { Random } from '../../../src/foundation/clock.ts'
import type { StateFault } from '../../support/state-faults.ts'
import {
  MIGRATION_CHANGES,
  SERVICE_MOMENTS,
  type ServiceMoment,
  STATE_CHANGES,
  type StateChange,
} from './crash-points.ts'

/** What happens to one run of the program. */
export type Harm =
  /** Killed `afterMs` after its start. */
  | { readonly kind: 'time'; readonly afterMs: number }
  /** Killed at this moment, when it comes for the nth time. */
  | { readonly kind: 'service'; readonly moment: ServiceMoment; readonly nth: number }
  /** Asked to stop then, and killed `graceMs` later. */
  | { readonly kind: 'stopping'; readonly moment: ServiceMoment; readonly nth: number; readonly graceMs: number }
  /** Killed at a change of its state, or the change fails. */
  | { readonly kind: 'state'; readonly fault: StateFault & { readonly of: string } }
  /** A second instance is started at the same time. */
  | { readonly kind: 'pair' }

/** A name for the tally, the same for all of its kind. */
export function nameOf(harm: Harm): string {
  switch (harm.kind) {
    case 'time':
      return 'at any time'
    case 'service':
      return harm.moment
    case 'stopping':
      return 'while stopping'
    case 'state':
      return `${harm.fault.of}: ${harm.fault.harm}`
    case 'pair':
      return 'two instances'
  }
}

/** Returns whether the process is to be gone after it; otherwise it may end by itself. */
export function isKill(harm: Harm): boolean {
  return harm.kind !== 'pair' && !(harm.kind === 'state' && /^e/.test(harm.fault.harm))
}

const MAX_RUN_MS = 900
const MAX_TIMES = 12
const MAX_GRACE_MS = 60

/** Any harm; of the changes of the state first those of a first run, when nothing was run yet. */
export function drawHarm(random: Random, { isFirst, isOld }: { isFirst: boolean; isOld: boolean }): Harm {
  const dice = random()
  if (dice < 0.15) return { kind: 'time', afterMs: random() * MAX_RUN_MS }
  if (dice < 0.5) return { kind: 'service', ...drawMoment(random) }
  if (dice < 0.58) return { kind: 'stopping', ...drawMoment(random), graceMs: random() * MAX_GRACE_MS }
  if (dice < 0.6) return { kind: 'pair' }
  const fails = dice > 0.93
  return { kind: 'state', fault: drawFault(random, fails, isFirst && isOld ? MIGRATION_CHANGES : STATE_CHANGES) }
}

function drawMoment(random: Random): { readonly moment: ServiceMoment; readonly nth: number } {
  return { moment: pick(SERVICE_MOMENTS, random), nth: 1 + Math.floor(random() * random() * MAX_TIMES) }
}

function drawFault(random: Random, fails: boolean, changes: readonly StateChange[]) {
  const [of, times] = pick(changes, random)
  const at = 1 + Math.floor(random() * times)
  const harm = pick(fails ? (['eio', 'enospc'] as const) : (['kill', 'tear', 'kill-after'] as const), random)
  return { of, at, harm, lasts: fails && random() < 0.5 }
}

function pick<T>(list: readonly T[], random: Random): T {
  const found = list[Math.floor(random() * list.length)]
  if (found === undefined) throw new Error('Nothing to pick from')
  return found
}
