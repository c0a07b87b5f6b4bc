/** `npm run kills`: kills the real program again and again, anywhere, and judges what is left; see docs/development/kills.md. */
import { cpSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { compileProgram } from '../../support/compiled-program.ts'
import { copyWithMigration } from '../../support/next-version.ts'
import { seededRandom } from '../../support/random.ts'
import { compileStateFaults } from '../../support/state-faults.ts'
import { openWorkspace, type Workspace } from '../bench/workspace.ts'
import { anyNumber, describeMachine, print, runInstrument, stopSignal, wholeNumber } from '../instrument.ts'
import { drawHarm, type Harm } from './harm.ts'
import { type LibraryKillsResult, runLibraryKills } from './library.ts'
import { type RoundPlan, type RoundResult, runRound } from './round.ts'
import { runTerms, type TermsResult } from './terms.ts'

const OPTIONS = z
  .object({
    count: wholeNumber(1, 10_000_000).default(5_000).describe('kills to be done, unless the time is over before'),
    minutes: anyNumber(0.01, 100_000).default(600),
    seed: wholeNumber(0, 2 ** 32)
      .default(1)
      .describe('seed of the first round; each further one has the next'),
    round: wholeNumber(0, 2 ** 32)
      .optional()
      .describe('only the round of this seed, to repeat a failed one'),
    atOnce: wholeNumber(1, 64).default(2).describe('rounds at the same time'),
    terms: wholeNumber(1, 1_000_000)
      .optional()
      .describe('instead, starts that SIGTERM or SIGINT stops; twice as many at the same time, which are the load'),
    library: wholeNumber(1, 1_000_000).optional().describe('instead, kills of syncs into the library of this computer'),
  })
  .transform(({ seed, round, ...options }) => ({ ...options, seed: round ?? seed, isOneRound: round !== undefined }))
type KillOptions = z.infer<typeof OPTIONS>

const HARMS_A_ROUND = 8
const KILLS_A_LINE = 100
const MAX_LOST_ANSWERS = 0.3

interface Tally {
  rounds: number
  kills: number
  /** Seeds of rounds with complaints. */
  readonly failed: number[]
  readonly done: Map<string, number>
  readonly beganMs: number
}

const TERMS_A_LINE = 50

/** Stops the program instead of killing it. */
async function stopMany(workspace: Workspace, count: number, { seed, atOnce }: KillOptions): Promise<boolean> {
  const signal = stopSignal()
  const program = await compileProgram(workspace.fresh('program'))
  print(`${describeMachine()}; seed ${seed}, ${atOnce * 2} starts at once`)
  const onStop = ({ stops, died }: TermsResult) => {
    if (stops % TERMS_A_LINE === 0) print(`${stops} stops, ${died} died by a signal`)
  }
  const at = workspace.fresh('stops')
  const result = await runTerms({ count, atOnce: atOnce * 2, seed, at, program, signal, onStop })
  for (const complaint of result.complaints) print(`  ${complaint.trimEnd().replaceAll('\n', '\n    ')}`)
  print(`${result.stops} stops, ${result.died} died by a signal, ${result.complaints.length} did not end in order`)
  return result.complaints.length === 0
}

async function killLibraries(workspace: Workspace, kills: number, { seed, atOnce }: KillOptions): Promise<boolean> {
  const signal = stopSignal()
  const program = await compileProgram(workspace.fresh('program'))
  const layer = compileStateFaults(workspace.path)
  print(`${describeMachine()}; seed ${seed}, ${atOnce} libraries at once`)
  const onKill = ({ kills: done, files, complaints }: LibraryKillsResult) => {
    if (done % KILLS_A_LINE === 0) print(`${done} kills, ${files} files judged, ${complaints.length} complaints`)
  }
  const at = workspace.fresh('libraries')
  const result = await runLibraryKills({ kills, atOnce, seed, at, program, layer, signal, onKill })
  for (const complaint of result.complaints) print(`  ${complaint.trimEnd().replaceAll('\n', '\n    ')}`)
  print(`${result.kills} kills, ${result.files} files judged, ${result.complaints.length} complaints`)
  return result.complaints.length === 0
}

/** The same round for the same seed, as far as two processes are ever the same. */
function planRound(seed: number): Pick<RoundPlan, 'seed' | 'harms' | 'isOld' | 'hasDaemons' | 'lostResponses'> {
  const random = seededRandom(seed)
  const isOld = random() < 0.15
  const hasDaemons = random() < 0.25
  const lostResponses = random() < 0.4 ? random() * MAX_LOST_ANSWERS : 0
  const harms: Harm[] = []
  while (harms.length < HARMS_A_ROUND) harms.push(drawHarm(random, { isFirst: harms.length === 0, isOld }))
  return { seed, harms, isOld, hasDaemons, lostResponses }
}

async function kill(options: KillOptions): Promise<boolean> {
  if (process.platform !== 'linux') throw new Error('Only on Linux can a change of the state be met: run it there')
  const signal = stopSignal()
  using workspace = openWorkspace('kills')
  if (options.terms !== undefined) return await stopMany(workspace, options.terms, options)
  if (options.library !== undefined) return await killLibraries(workspace, options.library, options)
  const program = await compileProgram(workspace.fresh('program'))
  const nextProgram = copyWithMigration(program, workspace.fresh('next-program'))
  const layer = compileStateFaults(workspace.path)
  print(`${describeMachine()}; seed ${options.seed}, ${options.atOnce} rounds at once`)
  const tally: Tally = { rounds: 0, kills: 0, failed: [], done: new Map(), beganMs: performance.now() }
  try {
    let next = options.seed
    const worker = async () => {
      while (!isOver(options, tally, signal) && (next === options.seed || !options.isOneRound)) {
        const seed = next
        next += 1
        const plan = planRound(seed)
        const around = { program: plan.isOld ? nextProgram : program, layer, signal }
        await runOne(workspace, { ...plan, ...around, at: workspace.fresh('round') }, tally)
      }
    }
    await Promise.all(Array.from({ length: options.atOnce }, worker))
  } finally {
    sayTotals(tally)
  }
  return tally.failed.length === 0
}

function isOver({ count, minutes }: KillOptions, { kills, beganMs }: Tally, { aborted }: AbortSignal): boolean {
  return aborted || kills >= count || performance.now() - beganMs > minutes * 60_000
}

async function runOne({ path }: Workspace, plan: RoundPlan, tally: Tally): Promise<void> {
  const result = await runRound(plan)
  const lines = Math.floor(tally.kills / KILLS_A_LINE)
  add(tally, plan.seed, result)
  if (result.complaints.length > 0) sayFailed(plan, result)
  if (Math.floor(tally.kills / KILLS_A_LINE) > lines) sayProgress(tally)
  if (plan.at.startsWith(path)) rmSync(plan.at, { recursive: true, force: true })
}

function add(tally: Tally, seed: number, { kills, done, complaints }: RoundResult): void {
  tally.rounds += 1
  tally.kills += kills
  for (const name of done) tally.done.set(name, (tally.done.get(name) ?? 0) + 1)
  if (complaints.length > 0) tally.failed.push(seed)
}

function sayFailed({ seed, at }: RoundPlan, { complaints }: RoundResult): void {
  const kept = join(tmpdir(), `shelfd-kills-round-${seed}`)
  cpSync(at, kept, { recursive: true, force: true, filter: (path) => !path.endsWith('.sock') })
  print(
    `round ${seed} broke a promise; what it left is in ${kept}, and it is had again by: npm run kills -- --round ${seed}`,
  )
  for (const complaint of complaints) print(`  ${complaint.trimEnd().replaceAll('\n', '\n    ')}`)
}

function sayProgress({ rounds, kills, failed, beganMs }: Tally): void {
  const minutes = (performance.now() - beganMs) / 60_000
  const rate = `${Math.round(kills / minutes)} kills a minute`
  print(`${kills} kills in ${rounds} rounds, ${failed.length} broke a promise; ${minutes.toFixed(1)} minutes, ${rate}`)
}

function sayTotals(tally: Tally): void {
  sayProgress(tally)
  for (const [name, times] of [...tally.done].sort(([a], [b]) => (a < b ? -1 : 1))) print(`${times}\t${name}`)
  if (tally.failed.length > 0) print(`rounds that broke a promise: ${tally.failed.join(', ')}`)
}

await runInstrument('kills', OPTIONS, kill)
