/** Up to a thousand light hosts with many contents in common, as plain data derived from a seed. */
import { seededRandom } from '../../../support/random.ts'

export const LIBRARY = { origin: 'https://library.example', tenantId: 1, remoteId: 'library-1' }

/** What befalls the process of a host while it runs. */
export interface Mishap {
  readonly kind: 'death' | 'pause' | 'sleep' | 'no-ledger'
  /** After so many parts of its uploads. */
  readonly afterParts: number
  readonly ms: number
}

export interface LightTraits {
  /** How fast its clock is. */
  readonly rate: number
  readonly startsAtMs: number
  /** It wants `count` contents from this number on, beginning again after the last one. */
  readonly firstContent: number
  readonly count: number
  readonly mishaps: readonly Mishap[]
}

export interface ProtocolScenario {
  readonly seed: number
  readonly leaseMs: number
  readonly contents: number
  readonly newPerDay: number | null
  /** Shares of calls of the ledger that are lost, and of uploads whose answers are. */
  readonly lostShare: number
  /** How long an upload takes at most, and lies in buffers at most. */
  readonly longestPassMs: number
  readonly hosts: readonly LightTraits[]
}

const MAX_HOSTS = 1_000
const MAX_CONTENTS = 100_000
/** Hosts begin within this time. */
const BEGIN_MS = 20_000

/** One seed in this number is as large as it may be. */
const LARGE_EVERY = 100

export function makeProtocol(seed: number): ProtocolScenario {
  const isLarge = seed % LARGE_EVERY === LARGE_EVERY / 2
  const random = seededRandom(seed * 3_266_489_917)
  const below = (bound: number) => Math.floor(random() * bound)
  const chance = (share: number) => random() < share
  const size = isLarge ? 1 : random() ** 2 * 0.2
  const hostCount = 2 + Math.floor(size * (MAX_HOSTS - 2))
  const contents = 1 + Math.floor(size * MAX_CONTENTS * (isLarge ? 1 : random()))
  const leaseMs = chance(0.5) ? 15_000 : 60_000
  // On average, each content is had by so many hosts, where that is possible.
  const copies = Math.min(hostCount, 1 + random() * 4)
  const count = Math.max(1, Math.min(contents, Math.floor((contents * copies) / hostCount)))
  // All want the same ones in the same order, or each begins elsewhere.
  const isCrowd = !isLarge && chance(0.3)
  const mishap = (): Mishap => ({
    kind: (['death', 'pause', 'sleep', 'no-ledger'] as const)[below(4)] ?? 'death',
    afterParts: below(30),
    ms: Math.floor(leaseMs * (chance(0.6) ? 1.8 + random() * 2 : random() * 2)),
  })
  const mishapShare = chance(0.3) ? 0 : random() * 0.5
  return {
    seed,
    leaseMs,
    contents,
    newPerDay: !isLarge && chance(0.2) ? Math.ceil(contents * (0.3 + random())) : null,
    lostShare: chance(0.5) ? 0 : random() ** 2 * 0.1,
    longestPassMs: chance(0.3) ? 40 : Math.floor(leaseMs * 0.3),
    hosts: Array.from({ length: hostCount }, () => ({
      rate: chance(0.5) ? 1 : 0.95 + random() * 0.1,
      startsAtMs: below(BEGIN_MS),
      firstContent: isCrowd ? 0 : below(contents),
      count,
      mishaps: chance(mishapShare) ? Array.from({ length: 1 + below(2) }, mishap) : [],
    })),
  }
}

/** Scenarios in which less happens. */
export function* listShorterProtocols(scenario: ProtocolScenario): Generator<ProtocolScenario> {
  const { hosts } = scenario
  for (let length = hosts.length; length > 1; length = Math.floor(length / 2)) {
    const half = Math.floor(length / 2)
    for (let start = 0; start < hosts.length; start += half + 1) {
      if (hosts.length > half + 1) yield { ...scenario, hosts: hosts.toSpliced(start, half) }
    }
  }
  for (const [at, host] of hosts.entries()) {
    if (host.mishaps.length > 0) yield { ...scenario, hosts: hosts.with(at, { ...host, mishaps: [] }) }
    if (host.count > 1) yield { ...scenario, hosts: hosts.with(at, { ...host, count: host.count >> 1 }) }
  }
  if (scenario.lostShare > 0) yield { ...scenario, lostShare: 0 }
}
