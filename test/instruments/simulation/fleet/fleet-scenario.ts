/** What happens in one run of a simulated fleet, as plain data derived from a seed: it can be printed, shortened and run again. */
import type { EngineLimits } from '../../../../src/sync/engine.ts'
import { seededRandom } from '../../../support/random.ts'
import { CONTENTS } from '../contents.ts'
import { CALM, type FaultProfile } from '../faults.ts'
import type { FullDisk } from '../life.ts'

/**
 * A moment in a life of the program: its nth step; the nth one after its first claims, while something is sent; or as the ledger has carried
 * out its nth claim or renewal, whose answer is still on its way.
 */
export interface Moment {
  readonly after: 'start' | 'first-claims' | 'claim' | 'renewal'
  readonly nth: number
}

/** What befalls one host, or the ledger, at a moment in a life of the program. */
export type Harm = { readonly at: Moment } & (
  | { readonly kind: 'death' | 'power-cut' }
  /** `pause` stops the process, `sleep` the whole machine, whose monotonic time stands still then; the wall clock is set meanwhile. */
  | { readonly kind: 'pause' | 'sleep'; readonly ms: number; readonly jumpMs: number }
  | { readonly kind: 'no-ledger' | 'no-service'; readonly ms: number }
  /** The wall clock is set. */
  | { readonly kind: 'jump'; readonly jumpMs: number }
  /** Another server takes over, without the newest commits. */
  | { readonly kind: 'failover'; readonly commits: number }
  /** The ledger crashes: what it acknowledged is there again. */
  | { readonly kind: 'crash' }
)

export type Act =
  | { readonly kind: 'put'; readonly path: string; readonly content: number }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'pass'; readonly ms: number }
  | {
      readonly kind: 'sync'
      readonly harms: readonly Harm[]
      readonly waitMs: number
      /** Somebody stops it after this time. */
      readonly stopsAfterMs: number | null
      readonly fullDisk: FullDisk | null
    }

/** `host`: the index of the one that it happens to. */
export type FleetEvent =
  | { readonly kind: 'no-ledger' | 'no-service'; readonly atMs: number; readonly forMs: number; readonly host: number }
  | { readonly kind: 'ledger-away'; readonly atMs: number; readonly forMs: number }

export interface HostTraits {
  /** How fast its clock is. */
  readonly rate: number
  /** By how much its wall clock is wrong. */
  readonly wrongMs: number
  readonly acts: readonly Act[]
}

export interface FleetScenario {
  readonly seed: number
  readonly leaseMs: number
  readonly limits: EngineLimits
  readonly retryForMs: number
  readonly hasDirectoryField: boolean
  readonly pageSize: number
  readonly faults: FaultProfile
  /** Shares of calls of the ledger that are lost, before or after it carries them out. */
  readonly lostCalls: number
  /** How long a part of a request to the service takes at most. */
  readonly longestPassMs: number
  /** The same of an upload. */
  readonly longestPartMs: number
  /** How long the last part of an upload lies in buffers at most: shorter than the grace, whatever the clocks. */
  readonly longestBufferMs: number
  /** How late answers of the ledger are at most, one in ten of them. */
  readonly lateMs: number
  readonly hosts: readonly HostTraits[]
  readonly events: readonly FleetEvent[]
}

const DIRECTORIES = ['', 'a/', 'a/b/']
/** Mostly of one MIME type, since a content has one. */
const NAMES = ['note.md', 'Übung.md', 'x.md', 'plan.md', 'a.csv']
/** Events happen within it; runs that overlap are what matters. */
const SPAN_MS = 240_000

export function makeFleet(seed: number): FleetScenario {
  const random = seededRandom(seed * 2_246_822_507)
  const below = (bound: number) => Math.floor(random() * bound)
  const chance = (share: number) => random() < share
  const count = 2 + below(3)
  const leaseMs = [6_000, 15_000, 15_000, 30_000][below(4)] ?? 15_000
  const moment = (): Moment => {
    const roll = random()
    if (roll < 0.2) return { after: 'start', nth: 1 + Math.floor(random() ** 1.5 * 160) }
    if (roll < 0.5) return { after: 'first-claims', nth: 1 + below(30) }
    return { after: roll < 0.7 ? 'claim' : 'renewal', nth: 1 + Math.floor(random() ** 2 * 5) }
  }
  // Mostly a little longer than lease and grace: others have just begun to act then.
  const span = () => Math.floor(leaseMs * (chance(0.6) ? 1.8 + random() ** 2 * 3 : random() * 2))
  const anyJump = () => Math.floor((random() - 0.5) * 7_200_000)
  const harm = (): Harm => {
    const at = moment()
    const roll = random()
    if (roll < 0.2) return { kind: chance(0.5) ? 'death' : 'power-cut', at }
    if (roll < 0.55)
      return { kind: chance(0.6) ? 'pause' : 'sleep', at, ms: span(), jumpMs: chance(0.3) ? anyJump() : 0 }
    if (roll < 0.75) return { kind: chance(0.7) ? 'no-ledger' : 'no-service', at, ms: span() }
    if (roll < 0.85) return { kind: 'jump', at, jumpMs: anyJump() }
    if (roll < 0.9) return { kind: 'crash', at }
    return { kind: 'failover', at, commits: Math.floor(random() ** 2 * 8) }
  }
  // Few contents and paths, so that hosts have the same ones; in half of the fleets each path has the same content everywhere.
  const contents = chance(0.6) ? 2 + below(4) : CONTENTS
  const isCommon = chance(0.5)
  const paths = isCommon ? 2 + below(4) : DIRECTORIES.length * NAMES.length
  const pathAt = (nth: number) => `${DIRECTORIES[Math.floor(nth / NAMES.length)]}${NAMES[nth % NAMES.length]}`
  const path = () => pathAt(below(paths))
  const put = (): Act => {
    const nth = below(paths)
    return { kind: 'put', path: pathAt(nth), content: isCommon ? nth % contents : below(contents) }
  }
  const change = (): Act => {
    const roll = random()
    if (roll < 0.75) return put()
    return roll < 0.85 ? { kind: 'remove', path: path() } : { kind: 'rename', path: path(), to: path() }
  }
  const isCalm = chance(0.3)
  const sync = (): Act => ({
    kind: 'sync',
    harms: Array.from({ length: isCalm || chance(0.3) ? 0 : 1 + below(3) }, harm),
    waitMs: chance(0.3) ? 0 : below(SPAN_MS),
    stopsAfterMs: chance(0.1) ? below(5_000) : null,
    fullDisk: chance(0.1) ? { from: 1 + below(40), commits: 1 + below(3) } : null,
  })
  const makeHost = (): HostTraits => {
    const acts: Act[] = Array.from({ length: 1 + below(6) }, change)
    for (let runs = 1 + below(3); runs > 0; runs -= 1) {
      if (chance(0.5)) acts.push({ kind: 'pass', ms: below(chance(0.7) ? 3_000 : leaseMs * 3) })
      acts.push(sync())
      for (let changes = below(4); changes > 0; changes -= 1) acts.push(change())
    }
    return {
      rate: chance(0.5) ? 1 : 0.95 + random() * 0.1,
      wrongMs: below(3) === 0 ? (random() - 0.5) * 1e11 : 0,
      acts,
    }
  }
  // In most fleets, all hosts want the same few contents at once, and something befalls the first of them while the others wait for it.
  const isContest = chance(0.6)
  const many = 2 + below(4)
  /** For longer than lease and grace, as a rule as a renewal is answered: no other one comes sooner than others act. */
  const cutShort = (): Harm => {
    const at: Moment = chance(0.7)
      ? { after: 'renewal', nth: 1 + below(3) }
      : { after: 'first-claims', nth: 1 + below(30) }
    const ms = Math.floor(leaseMs * (1.9 + random() * 2))
    if (chance(0.5)) return { kind: 'no-ledger', at, ms }
    return { kind: chance(0.7) ? 'pause' : 'sleep', at, ms, jumpMs: chance(0.25) ? anyJump() : 0 }
  }
  const jumpAhead = (): Harm => ({ kind: 'jump', at: { after: 'claim', nth: 2 + below(3) }, jumpMs: below(3_600_000) })
  const makeContender = (nth: number): HostTraits => {
    const isVictim = nth === 0
    const acts: Act[] = Array.from({ length: many }, (_, at) => ({ kind: 'put', path: pathAt(at), content: at }))
    const contend = (harms: Harm[]): Act => ({
      kind: 'sync',
      harms,
      waitMs: leaseMs * (6 + below(10)),
      stopsAfterMs: null,
      fullDisk: isVictim && chance(0.3) ? { from: 1 + below(40), commits: 1 + below(4) } : null,
    })
    if (!isVictim || chance(0.3)) acts.push({ kind: 'pass', ms: below(3_000) })
    const befalls = () => (chance(0.3) ? harm() : isVictim ? cutShort() : jumpAhead())
    acts.push(contend(chance(isVictim ? 0.85 : 0.5) ? Array.from({ length: 1 + below(2) }, befalls) : []))
    if (chance(0.4)) acts.push({ kind: 'pass', ms: below(leaseMs * 2) }, contend([]))
    return { rate: chance(0.5) ? 1 : 0.95 + random() * 0.1, wrongMs: 0, acts }
  }
  const event = (): FleetEvent => {
    const atMs = Math.floor(random() ** 2 * SPAN_MS)
    const forMs = Math.floor(leaseMs * random() * 4)
    const roll = random()
    if (roll < 0.7) return { kind: roll < 0.4 ? 'no-ledger' : 'no-service', atMs, forMs, host: below(count) }
    return { kind: 'ledger-away', atMs, forMs }
  }
  const longestPassMs = isContest || chance(0.6) ? 40 : Math.floor(leaseMs * 0.2)
  const longestPartMs = isContest || chance(0.5) ? Math.floor(leaseMs * (chance(0.5) ? 0.15 : 0.5)) : longestPassMs
  const isSound = isContest && chance(0.6)
  return {
    seed,
    leaseMs,
    limits: {
      transfers: 1 + below(isContest ? 2 : 4),
      checkers: 1,
      inIngestion: !isContest && chance(0.3) ? 1 + below(4) : 200,
      newPerRun: !isContest && chance(0.2) ? 1 + below(4) : null,
      newPerDay: chance(isContest ? 0.1 : 0.2) ? 1 + below(6) : null,
      newBytesPerRun: null,
    },
    retryForMs: chance(0.5) ? 10_000 : 300_000,
    hasDirectoryField: chance(0.4),
    pageSize: chance(0.5) ? 500 : 1 + below(4),
    faults: {
      ...CALM,
      share: isSound || chance(0.5) ? 0 : random() ** 2 * 0.4,
      lostShare: isSound || chance(0.6) ? 0 : random() * 0.5,
    },
    lostCalls: isSound || chance(0.5) ? 0 : random() ** 2 * 0.3,
    longestPassMs,
    longestPartMs,
    longestBufferMs: chance(isContest ? 0.3 : 0.5) ? longestPartMs : Math.floor(leaseMs * 0.8),
    lateMs: isSound || chance(0.6) ? 0 : Math.floor(leaseMs * (0.5 + random() * 2)),
    hosts: Array.from({ length: count }, (_, nth) => (isContest ? makeContender(nth) : makeHost())),
    events: Array.from({ length: isContest || chance(0.5) ? 0 : 1 + below(3) }, event),
  }
}

/** Scenarios in which less happens. */
export function* listShorterFleets(scenario: FleetScenario): Generator<FleetScenario> {
  const { hosts, events } = scenario
  // A host that does nothing, so that the others keep their numbers.
  for (const [at, host] of hosts.entries()) {
    if (host.acts.length > 0) yield { ...scenario, hosts: hosts.with(at, { ...host, acts: [] }) }
  }
  for (const at of events.keys()) yield { ...scenario, events: events.toSpliced(at, 1) }
  for (const [at, host] of hosts.entries()) {
    for (const [nth, act] of host.acts.entries()) {
      yield { ...scenario, hosts: hosts.with(at, { ...host, acts: host.acts.toSpliced(nth, 1) }) }
      if (act.kind !== 'sync') continue
      for (const one of act.harms.keys()) {
        const acts = host.acts.with(nth, { ...act, harms: act.harms.toSpliced(one, 1) })
        yield { ...scenario, hosts: hosts.with(at, { ...host, acts }) }
      }
      if (act.fullDisk) {
        const acts = host.acts.with(nth, { ...act, fullDisk: null })
        yield { ...scenario, hosts: hosts.with(at, { ...host, acts }) }
      }
    }
  }
  if (scenario.lostCalls + scenario.lateMs > 0) yield { ...scenario, lostCalls: 0, lateMs: 0 }
  if (scenario.faults !== CALM) yield { ...scenario, faults: CALM }
}
