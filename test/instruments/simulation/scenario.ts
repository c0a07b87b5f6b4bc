/** What happens in one run of the simulation, as plain data derived from a seed: it can be printed, shortened and run again. */
import { seededRandom } from '../../support/random.ts'
import { type CalmWatch, makeCalmWatch } from './calm-watch.ts'
import { CONTENTS, NAMES } from './contents.ts'
import { CALM, type FaultProfile } from './faults.ts'
import type { FullDisk } from './life.ts'
import type { WorldTraits } from './world.ts'

export type Change =
  | { readonly kind: 'put' | 'overwrite'; readonly path: string; readonly content: number }
  | { readonly kind: 'remove' | 'unreadable' | 'readable' | 'broken' | 'repaired' | 'pipe'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  /** A link to a directory or file outside of the mirror stands here from now on. */
  | { readonly kind: 'link'; readonly path: string }
  | { readonly kind: 'directory'; readonly path: string }
  /** Some file gets other bytes of the same size, in place or by another inode with the same times. */
  | { readonly kind: 'alter'; readonly how: 'swap' | 'overwrite' }

/** How a life of the program ends before its work does. */
export interface Death {
  readonly atStep: number
  readonly losesPower: boolean
}

export type Phase =
  | { readonly kind: 'change'; readonly change: Change }
  | { readonly kind: 'pass' | 'jump'; readonly ms: number }
  | {
      readonly kind: 'sync'
      readonly death: Death | null
      readonly fullDisk: FullDisk | null
      /** Somebody stops it at this step. */
      readonly stopsAt: number | null
      readonly waitMs: number
      readonly hashesEverything: boolean
      readonly isDryRun: boolean
    }
  | {
      readonly kind: 'watch'
      readonly forMs: number
      readonly death: Death | null
      readonly fullDisk: FullDisk | null
      readonly changes: readonly { readonly atMs: number; readonly change: Change }[]
      /** Share of events that the watcher loses. */
      readonly lossShare: number
    }
  | { readonly kind: 'lose-root'; readonly how: 'gone' | 'emptied' | 'other-disk' | 'other-files' }
  | { readonly kind: 'lose-store' }
  /** Somebody removes from the library what no file stands for, or a document with its earlier versions. */
  | { readonly kind: 'tidy'; readonly path: string | null; readonly keepVersions: number; readonly death: Death | null }

const QUIET_SYNC: Phase = {
  kind: 'sync',
  death: null,
  fullDisk: null,
  stopsAt: null,
  waitMs: 0,
  hashesEverything: false,
  isDryRun: false,
}

export interface Scenario {
  readonly seed: number
  readonly traits: WorldTraits
  readonly phases: readonly Phase[]
  /** At the end, when all is well. */
  readonly calmWatch: CalmWatch | null
}

/** Every other seed sets clocks by up to nine hours, so that uploads of a day are still near. */
const IN_HOURS = 1e-4

/** One seed in this number ends with watching in peace. */
const CALM_EVERY = 5
/** In one seed of this number links are planted where the program reads. */
const LINKS_EVERY = 20

/** In one seed of this number, uploads of one file lose their answers, and listings show them late. */
const LOST_EVERY = 13
const LOST: FaultProfile = { ...CALM, lostShare: 0.85, lateShare: 0.9 }

/** In one seed of this number the mirror's directory is swapped and comes back, between any two steps. */
const SWAPS_EVERY = 7

/** In one seed of this number files get odd dates, and the disk has odd inodes. */
const ODD_EVERY = 4

/** In one seed of this number somebody tidies the library, which then is one as this computer's: it stores a content once. */
const TIDIED_EVERY = 3
const TIDY_SHARE = 0.4

/** Share of lives in which some commits find the disk full. */
const FULL_SHARE = 0.15

const DIRECTORIES = ['', 'a/', 'a/b/', 'c/', 'd e/']

export function makeScenario(seed: number): Scenario {
  const random = seededRandom(seed * 2_654_435_761)
  const below = (bound: number) => Math.floor(random() * bound)
  const chance = (share: number) => random() < share
  const losesAnswers = seed % LOST_EVERY === 0
  const faults: FaultProfile = {
    share: chance(0.4) ? 0 : random() ** 2 * 0.7,
    lostShare: 0,
    alwaysShare: chance(0.6) ? 0 : random() * 0.4,
    lateShare: chance(0.7) ? 0 : random() * 0.5,
    badShare: chance(0.7) ? 0 : random() * 0.5,
  }
  const hasDirectoryField = chance(0.3)
  const traits: WorldTraits = {
    limits: {
      transfers: 1 + below(4),
      checkers: 1 + below(3),
      inIngestion: chance(0.3) ? 1 + below(4) : 200,
      newPerRun: chance(0.15) ? 1 + below(4) : null,
      newPerDay: chance(0.1) ? 1 + below(6) : null,
      newBytesPerRun: null,
    },
    service: {
      hasDuplicateRule: chance(0.3) || seed % TIDIED_EVERY === 0,
      hasDirectoryField,
      pageSize: chance(0.5) ? 500 : 1 + below(4),
    },
    faults: losesAnswers ? LOST : faults,
    raceShare: chance(0.7) ? 0 : random() ** 2 * 0.1,
    linkShare: seed % LINKS_EVERY === 0 ? 0.1 : 0,
    oddShare: seed % ODD_EVERY === 0 ? 0.5 : 0,
    // Of its own, so that the rest of a scenario stays what it was before roots were swapped.
    swapShare: seed % SWAPS_EVERY === 0 ? seededRandom(seed * 668_265_263)() ** 2 * 0.05 : 0,
  }
  const path = () => `${DIRECTORIES[below(DIRECTORIES.length)]}${NAMES[below(NAMES.length)]}`
  const directory = () => ['a', 'a/b', 'c', 'd e'][below(4)] ?? 'a'
  const change = (): Change => {
    const roll = random()
    if (roll < 0.5) return { kind: 'put', path: path(), content: below(CONTENTS) }
    if (roll < 0.6) return { kind: 'overwrite', path: path(), content: below(CONTENTS) }
    if (roll < 0.64) return { kind: 'alter', how: chance(0.5) ? 'swap' : 'overwrite' }
    if (roll < 0.72) return { kind: 'remove', path: chance(0.8) ? path() : directory() }
    if (roll < 0.82) {
      return chance(0.6)
        ? { kind: 'rename', path: path(), to: path() }
        : { kind: 'rename', path: directory(), to: 'c2' }
    }
    if (roll < 0.86) return { kind: 'unreadable', path: chance(0.6) ? path() : directory() }
    if (roll < 0.9) return { kind: 'readable', path: chance(0.6) ? path() : directory() }
    if (roll < 0.92) return { kind: 'broken', path: path() }
    if (roll < 0.94) return { kind: 'repaired', path: path() }
    if (roll < 0.96) return { kind: 'link', path: chance(0.5) ? path() : directory() }
    if (roll < 0.98) return { kind: 'directory', path: `${directory()}/empty` }
    return { kind: 'pipe', path: path() }
  }
  const death = (share: number): Death | null =>
    chance(share) ? { atStep: 1 + Math.floor(random() ** 2 * 400), losesPower: chance(0.5) } : null
  // Of its own, so that the rest of a scenario stays what it was before there were full disks.
  const diskRandom = seededRandom(seed * 2_246_822_519)
  const fullDisk = (): FullDisk | null =>
    diskRandom() < FULL_SHARE
      ? { from: 1 + Math.floor(diskRandom() ** 2 * 40), commits: 1 + Math.floor(diskRandom() ** 3 * 20) }
      : null
  const sync = (): Phase => ({
    kind: 'sync',
    death: death(0.35),
    fullDisk: fullDisk(),
    stopsAt: chance(0.1) ? 1 + below(200) : null,
    waitMs: [0, 1_000, 3_600_000, 48 * 3_600_000][below(4)] ?? 0,
    hashesEverything: chance(0.1),
    isDryRun: chance(0.07),
  })
  const watch = (): Phase => {
    const forMs = 10_000 + below(1_200_000)
    return {
      kind: 'watch',
      forMs,
      death: death(0.3),
      fullDisk: fullDisk(),
      changes: Array.from({ length: below(10) }, () => ({ atMs: below(forMs), change: change() })),
      lossShare: chance(0.7) ? 0 : random(),
    }
  }
  if (losesAnswers) return { seed, traits, phases: makeLostStory(random), calmWatch: null }
  const phases: Phase[] = Array.from({ length: 2 + below(10) }, () => ({ kind: 'change', change: change() }))
  for (let rounds = 1 + below(4); rounds > 0; rounds -= 1) {
    phases.push(chance(0.7) ? sync() : watch())
    for (let changes = below(6); changes > 0; changes -= 1) phases.push({ kind: 'change', change: change() })
    if (chance(0.5)) phases.push({ kind: 'pass', ms: 10 ** (2 + random() * 6) })
    if (chance(0.1)) {
      const ms = (random() - 0.5) * 2 * 10 * 365 * 86_400_000
      phases.push({ kind: 'jump', ms: seed % 2 === 0 ? ms : ms * IN_HOURS })
    }
    if (chance(0.06))
      phases.push({
        kind: 'lose-root',
        how: (['gone', 'emptied', 'other-disk', 'other-files'] as const)[below(4)] ?? 'gone',
      })
    if (chance(0.03)) phases.push({ kind: 'lose-store' })
  }
  if (seed % TIDIED_EVERY === 0) addTidying(phases, { random: seededRandom(seed * 374_761_393), path })
  return { seed, traits, phases, calmWatch: seed % CALM_EVERY === 0 ? makeCalmWatch(seed) : null }
}

/** After every phase somebody may tidy. */
function addTidying(phases: Phase[], { random, path }: { random: () => number; path: () => string }): void {
  for (let at = phases.length; at > 0; at -= 1) {
    if (random() > TIDY_SHARE) continue
    const death = random() < 0.3 ? { atStep: 1 + Math.floor(random() * 20), losesPower: random() < 0.5 } : null
    const keepVersions = Math.floor(random() * 2)
    phases.splice(at, 0, { kind: 'tidy', path: random() < 0.5 ? path() : null, keepVersions, death })
  }
}

/** One file, renamed between some of its runs. */
function makeLostStory(random: () => number): readonly Phase[] {
  let path = 'note.md'
  const phases: Phase[] = [{ kind: 'change', change: { kind: 'put', path, content: 2 } }]
  for (let runs = 3 + Math.floor(random() * 4); runs > 0; runs -= 1) {
    phases.push(QUIET_SYNC, { kind: 'pass', ms: 10 ** (4.5 + random() * 2.5) })
    if (random() < 0.4) continue
    const to = path === 'note.md' ? 'Übung.md' : 'note.md'
    phases.push({ kind: 'change', change: { kind: 'rename', path, to } })
    path = to
  }
  return phases
}
