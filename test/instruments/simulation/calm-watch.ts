/** Watching in peace: no fault, no outage, no race. What is written then must arrive in time, and not before it has settled. */
import { seededRandom, seedOf } from '../../support/random.ts'
import { bytesOf, FRESH, NAMES, sha256Of } from './contents.ts'
import type { Life } from './life.ts'
import { listFiles, resourceOf } from './oracles.ts'
import { POLL_INTERVALS } from './program.ts'
import type { Change } from './scenario.ts'
import { INGESTION_MS, Violation, type World } from './world.ts'

export interface CalmWatch {
  readonly forMs: number
  readonly changes: readonly { readonly atMs: number; readonly change: Change }[]
  /** Nothing reports changes: frequent scans replace the watcher. */
  readonly isPolled: boolean
  readonly inIngestion: number
  /** Contents that the service refuses each time. */
  readonly refused: readonly number[]
  /** Contents whose ingestion is overdue before it ends. */
  readonly slow: readonly number[]
}

/** The regular scan comes when the watch is over, so that it can't find what the watch has missed. */
export const CALM_INTERVALS = { rescanMs: 48 * 3_600_000, pollIntervalMs: 60_000, settleMs: 5_000 }
/** Nobody removes this file: an emptied root would rightly halt the mirror (P12), and nothing would arrive in time. */
export const REMAINING: Change = { kind: 'put', path: 'remaining.md', content: 2 * FRESH }
/** Intervals are spread by so much. */
const JITTER = 1.1
/** By then a poll has seen the end of an ingestion that takes INGESTION_MS: with POLL_INTERVALS the first one after it comes before 18 s. */
const INGESTION_SEEN_MS = 2 * INGESTION_MS
/** All requests and commits from a settled file to its resource, with much to spare: together they take about a second. */
const WORK_MS = 10_000

/**
 * The longest that a file may take from its last change to the service: a watcher reports at once, and frequent scans after their
 * interval; the file must settle, in a new directory after that; and ingestion must have room, which others that came before may
 * take, each until its end is seen or it is overdue.
 */
export function arrivalMs({ changes, isPolled, inIngestion, slow }: Omit<CalmWatch, 'forMs'>): number {
  const { pollIntervalMs, settleMs } = CALM_INTERVALS
  const { maxPollMs, deadlineMs } = POLL_INTERVALS
  const seenMs = isPolled ? pollIntervalMs * JITTER : 0
  // REMAINING takes room as well.
  const turns = Math.ceil((changes.length + 1) / inIngestion) - 1
  const overdueMs = slow.length >= inIngestion ? deadlineMs + maxPollMs * JITTER : 0
  return seenMs + 2 * settleMs + WORK_MS + turns * INGESTION_SEEN_MS + overdueMs
}

export function makeCalmWatch(seed: number): CalmWatch {
  const script = new Script(seed)
  const calm = script.write()
  const lastMs = Math.max(...calm.changes.map(({ atMs }) => atMs))
  return { ...calm, forMs: lastMs + arrivalMs(calm) }
}

/** Some directories a few levels down, of which none need be there. */
const PLACES = ['', 'a/', 'a/b/', 'c/', 'new/', 'new/one/', 'new/one/deep/']

/** What people do, one thing after the other. */
class Script {
  readonly #random: () => number
  readonly #changes: { atMs: number; change: Change }[] = []
  readonly #refused: number[] = []
  readonly #slow: number[] = []
  #refusedShare = 0
  #content = FRESH
  #nowMs = 0

  constructor(seed: number) {
    this.#random = seededRandom(seedOf(`calm ${seed}`))
  }

  write(): Omit<CalmWatch, 'forMs'> {
    this.#refusedShare = this.#chance(0.4) ? 0.5 : 0
    const inIngestion = this.#chance(0.5) ? 1 + this.#below(2) : 200
    const isPolled = this.#chance(0.15)
    // Some of it while the first scan runs.
    this.#nowMs = this.#below(2) * this.#below(400)
    if (inIngestion < 200 && !isPolled && this.#chance(0.3)) this.#fillIngestion(inIngestion)
    const acts = [() => this.#files(), () => this.#newDirectory(), () => this.#busyFile(), () => this.#removal()]
    for (let rounds = 1 + this.#below(4); rounds > 0; rounds -= 1) {
      acts[this.#below(acts.length)]?.()
      this.#nowMs += this.#below(120_000)
    }
    return { changes: this.#changes, isPolled, inIngestion, refused: this.#refused, slow: this.#slow }
  }

  #fillIngestion(inIngestion: number): void {
    for (let index = 0; index < inIngestion; index += 1) {
      this.#slow.push(this.#content)
      this.#put(this.#nowMs, `slow ${index}.md`)
    }
    this.#nowMs += 1_000 + this.#below(60_000)
  }

  #files(): void {
    for (let files = 1 + this.#below(4); files > 0; files -= 1) {
      if (this.#chance(this.#refusedShare)) this.#refused.push(this.#content)
      this.#put(this.#nowMs + this.#below(2) * this.#below(3_000), this.#path())
    }
  }

  /** A directory that may be there already, and a file in it, at once or later. */
  #newDirectory(): void {
    const place = this.#place()
    if (place !== '') this.#change(this.#nowMs, { kind: 'directory', path: place.slice(0, -1) })
    this.#put(this.#nowMs + this.#below(90_000), `${place}${this.#name()}`)
  }

  /** A file that does not settle for a while. */
  #busyFile(): void {
    const path = this.#path()
    for (let writes = 2 + this.#below(12); writes > 0; writes -= 1) {
      this.#put(this.#nowMs, path)
      this.#nowMs += 500 + this.#below(CALM_INTERVALS.settleMs - 1_000)
    }
  }

  #removal(): void {
    const path = this.#chance(0.7) ? this.#path() : this.#place().slice(0, -1) || 'c'
    this.#change(this.#nowMs, { kind: 'remove', path })
  }

  /** A content like no other, in a new file or in the one that is there. */
  #put(atMs: number, path: string): void {
    this.#change(atMs, { kind: this.#chance(0.5) ? 'put' : 'overwrite', path, content: this.#content })
    this.#content += 1
  }

  #change(atMs: number, change: Change): void {
    this.#changes.push({ atMs, change })
  }

  #path(): string {
    return `${this.#place()}${this.#name()}`
  }

  #place(): string {
    return PLACES[this.#below(PLACES.length)] ?? ''
  }

  #name(): string {
    return NAMES[this.#below(NAMES.length)] ?? 'note.md'
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }
}

/** Judges the file at `path` when it must have arrived, unless it has changed again by then. */
export function expectArrival(world: World, life: Life, path: string, withinMs: number): void {
  const find = () => listFiles(world).find((file) => file.path === path)
  const written = find()
  if (written === undefined) return
  world.clock.startTimer(withinMs, () => {
    const now = find()
    if (life.isDead || now?.sha256 !== written.sha256 || resourceOf(world, now)) return
    life.onFailure(new Violation('in time', `"${path}" has not arrived ${withinMs} ms after its last change`))
  })
}

export function hashesOf(contents: readonly number[]): ReadonlySet<string> {
  return new Set(contents.map((content) => sha256Of(bytesOf(content))))
}
