import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../../src/foundation/clock.ts'
import { contentsBelow } from '../../support/churn.ts'
import { homeVariables, type Outcome } from '../../support/home.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { seededRandom } from '../../support/random.ts'
import { type StateFault, stateFaultVariables } from '../../support/state-faults.ts'
import { ask } from './accounts.ts'
import { runUntil } from './round.ts'

export interface LibraryKillsPlan {
  readonly kills: number
  /** Homes with a library of their own at the same time. */
  readonly atOnce: number
  readonly seed: number
  /** The directory for their files, which is created. */
  readonly at: string
  /** The `main` of the program. */
  readonly program: string
  /** The file of the layer that kills at changes of state and library. */
  readonly layer: string
  readonly signal?: AbortSignal
  /** Called after each kill. */
  readonly onKill?: (result: LibraryKillsResult) => void
}

export interface LibraryKillsResult {
  kills: number
  /** Files that a library had in the end. */
  files: number
  /** What should not be; empty when nothing was lost and nothing is there twice. */
  readonly complaints: string[]
}

/** So many runs of a home are killed before one ends in peace, and the home is judged. */
const RUNS = 12
const FILES_A_RUN = 80
const MAX_BYTES = 3_000
const LARGE_BYTES = 400_000
const MAX_MS = 1_200

/** Kills syncs into the library of this computer, at changes of the state and the library and at any time. */
export async function runLibraryKills(plan: LibraryKillsPlan): Promise<LibraryKillsResult> {
  const result: LibraryKillsResult = { kills: 0, files: 0, complaints: [] }
  let next = plan.seed
  const worker = async () => {
    while (result.kills < plan.kills && !plan.signal?.aborted) {
      const at = join(plan.at, String(next))
      const home = new KilledHome(at, plan, seededRandom(next))
      next += 1
      for (let run = 0; run < RUNS && result.kills < plan.kills; run += 1) {
        if (!(await home.killOne(result))) continue
        result.kills += 1
        plan.onKill?.(result)
      }
      await home.judge(result)
      rmSync(at, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: plan.atOnce }, worker))
  return result
}

class KilledHome {
  readonly #at: string
  readonly #plan: LibraryKillsPlan
  readonly #random: Random
  #files = 0
  /** Changes that the last run made below the directory. */
  readonly #changes = { state: 40, data: 60 }

  constructor(at: string, plan: LibraryKillsPlan, random: Random) {
    this.#at = at
    this.#plan = plan
    this.#random = random
    mkdirSync(at, { recursive: true })
  }

  /** Returns whether the run was killed: it may have ended before. */
  async killOne({ complaints }: LibraryKillsResult): Promise<boolean> {
    this.#addFiles()
    const isAnyTime = this.#random() < 0.3
    const part = this.#random() < 0.5 ? 'state' : 'data'
    const trace = join(this.#at, 'trace')
    rmSync(trace, { force: true })
    const harm = (['kill', 'tear', 'kill-after'] as const)[Math.floor(this.#random() * 3)] ?? 'kill'
    const fault: StateFault = { harm, at: 1 + Math.floor(this.#random() * this.#changes[part]) }
    const below = join(this.#at, part)
    const outcome = await this.#run(
      stateFaultVariables(this.#plan.layer, { below, trace, ...(!isAnyTime && { fault }) }),
      isAnyTime ? this.#random() * MAX_MS : undefined,
    )
    if (existsSync(trace)) this.#changes[part] = Math.max(10, readFileSync(trace, 'utf8').split('\n').length)
    if (this.#plan.signal?.aborted) return false
    if (outcome.exitCode !== null && outcome.exitCode !== 0) complaints.push(describe(this.#at, outcome))
    this.#judgeReceipts(complaints)
    return outcome.exitCode === null
  }

  /** Lets a run end in peace: then the library has each content once, whole, and nothing else. */
  async judge(result: LibraryKillsResult): Promise<void> {
    const { complaints } = result
    const complain = (what: string) => complaints.push(`${this.#at}: ${what}`)
    const last = await this.#run()
    const report = await this.#run({}, undefined, ['report', '--check'])
    const found = await this.#run({}, undefined, ['search', `number${this.#files - 1}`])
    if (this.#plan.signal?.aborted) return
    if (last.exitCode !== 0) complain(`the last run: ${describe(this.#at, last)}`)
    this.#judgeReceipts(complaints)
    const stored = readLibrary(this.#dataDir).map(({ sha256 }) => sha256)
    const here = contentsBelow(join(this.#at, 'Papers'))
    result.files += stored.length
    for (const sha256 of here) if (!stored.includes(sha256)) complain(`${sha256} is not in the library`)
    if (new Set(stored).size < stored.length) complain('a content is in the library twice')
    for (const sha256 of stored) if (!here.has(sha256)) complain(`bytes that never were are in the library: ${sha256}`)
    if (report.exitCode !== 0) complain(`the report: ${describe(this.#at, report)}`)
    if (!found.stdout.includes(`${this.#files - 1}.txt`)) complain(`the last file is not found: ${describe('', found)}`)
    const faults = ask(join(this.#dataDir, 'library.sqlite'), 'PRAGMA integrity_check')
    if (faults.join() !== 'ok') complain(`the library is damaged: ${faults.join('; ')}`)
  }

  get #dataDir(): string {
    return join(this.#at, 'data', 'shelfd', 'library')
  }

  /** P1: the library has each resource of which the state has a receipt. */
  #judgeReceipts(complaints: string[]): void {
    const store = join(this.#at, 'state', 'shelfd', 'store.db')
    if (!existsSync(join(this.#at, 'state', 'shelfd', 'generation'))) return
    const receipts = ask(store, 'SELECT resource_id FROM content WHERE resource_id IS NOT NULL')
    if (receipts.length === 0) return
    const stored = new Set(readLibrary(this.#dataDir).map(({ id }) => id))
    const lost = receipts.filter((id) => !stored.has(id))
    if (lost.length > 0) complaints.push(`${this.#at}: the library lost ${lost.join(', ')} (P1)`)
  }

  async #run(more = {}, killedAfterMs?: number, args: readonly string[] = ['sync', 'Papers', '-q']): Promise<Outcome> {
    const env = { ...homeVariables(this.#at), SHELFD_CHECKERS: '1', ...more }
    const { child, ended } = runUntil(this.#plan.signal, args, { main: this.#plan.program, cwd: this.#at, env })
    const timer = killedAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killedAfterMs)
    const outcome = await ended
    clearTimeout(timer)
    return outcome
  }

  /** Short texts, copies of earlier ones, and a long one. */
  #addFiles(): void {
    for (let left = FILES_A_RUN; left > 0; left -= 1) {
      const number = this.#files
      const directory = join(this.#at, 'Papers', String(number % 9))
      mkdirSync(directory, { recursive: true })
      const of = left % 8 === 2 ? Math.floor(this.#random() * number) : number
      const bytes = left === FILES_A_RUN ? LARGE_BYTES : 10 + ((of * 7_919) % MAX_BYTES)
      writeFileSync(join(directory, `${number}.txt`), `number${of} ${'heron '.repeat(bytes / 6)}`)
      this.#files += 1
    }
  }
}

function describe(at: string, { exitCode, stdout, stderr }: Outcome): string {
  return `${at}: exit ${exitCode}\n${stdout}\n${stderr.slice(-4_000)}`
}
