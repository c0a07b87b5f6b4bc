import { mkdirSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { Random } from '../../../src/foundation/clock.ts'
import { homeVariables, type Outcome, type Variables } from '../../support/home.ts'
import { seededRandom } from '../../support/random.ts'
import type { Running } from '../../support/run-shelfd.ts'
import { compileLayer } from '../../support/state-faults.ts'
import { runUntil } from './round.ts'

export interface TermsPlan {
  /** Starts, each of which is stopped. */
  readonly count: number
  /** Starts at the same time, which are the load. */
  readonly atOnce: number
  readonly seed: number
  /** The directory for their files, which is created. */
  readonly at: string
  /** The `main` of the program. */
  readonly program: string
  readonly signal?: AbortSignal | undefined
  /** Called after each stop. */
  readonly onStop?: (result: TermsResult) => void
}

export interface TermsResult {
  stops: number
  /** Those that a signal ended. */
  died: number
  /** What should not be; empty when each process ended in order. */
  readonly complaints: string[]
}

const SLOW_LOADING = join(import.meta.dirname, '../../support/slow-loading.c')

/** A command and the exit codes of one that was stopped; it may have ended before. */
const COMMANDS = [
  // Most threads are a daemon's.
  ...Array.from({ length: 4 }, () => ({ args: ['daemon'], codes: [0, 130] })),
  { args: ['sync', 'Papers', '--accept-removals'], codes: [0, 130] },
  { args: ['search', 'heron'], codes: [0, 130] },
]

const FILES = 80
const MAX_RUN_MS = 4_000
/** How long a native module takes to load, and how often a process loads one in the beginning, once a thread. */
const LOADING_MS = 200
const MAX_LOADINGS = 8
const MAX_STOP_MS = 60_000

/** Starts the program with its own library again and again, and stops it at random moments by SIGTERM or SIGINT. */
export async function runTerms(plan: TermsPlan): Promise<TermsResult> {
  const result: TermsResult = { stops: 0, died: 0, complaints: [] }
  let left = plan.count
  const worker = async (_: unknown, index: number) => {
    const random = seededRandom(plan.seed + index)
    const place = new Place(join(plan.at, String(index)), plan, random)
    await place.createLibrary()
    for (let round = 0; left > 0 && !plan.signal?.aborted; round += 1) {
      left -= 1
      await place.stopOne(round, result)
      plan.onStop?.(result)
    }
  }
  await Promise.all(Array.from({ length: plan.atOnce }, worker))
  return result
}

/** A home whose program is started and stopped, one run after the other. */
class Place {
  readonly #at: string
  readonly #plan: TermsPlan
  readonly #random: Random
  readonly #env: Variables

  constructor(at: string, plan: TermsPlan, random: Random) {
    this.#at = at
    this.#plan = plan
    this.#random = random
    mkdirSync(at, { recursive: true })
    this.#env = {
      ...homeVariables(at),
      SHELFD_CHECKERS: '4',
      LD_PRELOAD: compileLayer(at, SLOW_LOADING),
      SLOW_LOADING_MS: String(LOADING_MS),
    }
    for (let index = 0; index < FILES; index += 1) this.#addFile(`${index % 20}/${index}`)
    const mirror = { name: 'Papers', path: join(at, 'Papers'), library: 'Library', settle: '20ms' }
    mkdirSync(join(at, 'config', 'shelfd'), { recursive: true })
    writeFileSync(join(at, 'config', 'shelfd', 'config.yaml'), stringify({ mirrors: [mirror] }))
  }

  async createLibrary(): Promise<void> {
    const { exitCode, stderr } = await this.#start(['libraries', 'create', 'Library']).ended
    if (exitCode !== 0 && !this.#plan.signal?.aborted) throw new Error(`No library was created: ${stderr}`)
  }

  async stopOne(round: number, result: TermsResult): Promise<void> {
    for (let index = 0; index < 5; index += 1) this.#addFile(`new/${round}-${index}`)
    const { args, codes } = this.#draw(COMMANDS)
    const trace = join(this.#at, `loads-${round}`)
    const running = this.#start(args, { SLOW_LOADING_TRACE: trace })
    await hasOpened(running, this.#at)
    // Meanwhile the daemon's library has to answer it.
    const search = args[0] === 'daemon' && this.#random() < 0.5 ? this.#start(['search', 'heron']) : undefined
    if (this.#random() < 0.5) await sleep(this.#random() * MAX_RUN_MS)
    else await hasBegunToLoad(running, trace, this.#random)
    const name = this.#draw(['SIGTERM', 'SIGINT'] as const)
    running.child.kill(name)
    // The second signal ends the process at once.
    const isUrgent = this.#random() < 0.2
    if (isUrgent) await sleep(this.#random() * 100).then(() => running.child.kill(name))
    const tooLong = setTimeout(() => running.child.kill('SIGKILL'), MAX_STOP_MS)
    const outcome = await running.ended
    clearTimeout(tooLong)
    await search?.kill()
    if (this.#plan.signal?.aborted) return
    result.stops += 1
    // Node listens no more at the very end of a process, where the second signal may come, or that to a command which has just done all.
    if ((isUrgent || args[0] !== 'daemon') && running.child.signalCode === name) return
    if (outcome.exitCode === null) result.died += 1
    else if (codes.includes(outcome.exitCode)) return
    const end = outcome.exitCode ?? running.child.signalCode
    result.complaints.push(`${args.join(' ')}, ${isUrgent ? 'twice ' : ''}${name}: ${end}\n${describe(outcome)}`)
  }

  #start(args: readonly string[], more: Variables = {}): Running {
    const { program: main, signal } = this.#plan
    return runUntil(signal, args, { main, cwd: this.#at, env: { ...this.#env, ...more } })
  }

  #addFile(name: string): void {
    const file = join(this.#at, 'Papers', `${name}.txt`)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, `A heron stands at ${this.#random()}.`)
  }

  #draw<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T
  }
}

/** Resolves when the process has opened a file of its state or library, and so listens for signals, or has ended. */
async function hasOpened({ child }: Running, at: string): Promise<void> {
  while (child.exitCode === null && child.signalCode === null && !hasOpen(child.pid, at)) await sleep(5)
}

/** Resolves when the process begins to load native modules for one of the first times, or has ended. */
async function hasBegunToLoad({ child }: Running, trace: string, random: Random): Promise<void> {
  const nth = 1 + Math.floor(random() * MAX_LOADINGS)
  const endMs = performance.now() + MAX_RUN_MS
  while (child.exitCode === null && child.signalCode === null && performance.now() < endMs) {
    if ((statSync(trace, { throwIfNoEntry: false })?.size ?? 0) >= nth) return
    await sleep(2)
  }
}

function hasOpen(pid: number | undefined, at: string): boolean {
  try {
    const descriptors = `/proc/${pid}/fd`
    const files = readdirSync(descriptors).map((name) => readlinkSync(join(descriptors, name)))
    return files.some((file) => file.startsWith(join(at, 'state/')) || file.startsWith(join(at, 'data/')))
  } catch {
    // The process, or one of its descriptors, is gone meanwhile.
    return false
  }
}

function describe({ stdout, stderr }: Outcome): string {
  return `${stdout}\n${stderr.slice(-4_000)}`
}
