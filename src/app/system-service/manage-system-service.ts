import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { FileError, UsageError } from '../../foundation/errors.ts'
import { ownUid } from '../../foundation/files/ownership.ts'
import { describeFailure, type ProgramCall as RunCall, runProgram } from '../../foundation/run-program.ts'
import { escapeLines, escapeText } from '../../foundation/text/safe-text.ts'
import { isThere } from '../files/paths-on-disk.ts'
import type { Environment } from '../settings/overrides.ts'
import { readTemplate, removeDefinition, writeDefinition } from './definition-files.ts'
import {
  type Filling,
  type LogOptions,
  type ProgramCall,
  planSystemService,
  type SystemServicePlan,
} from './service-manager-plans.ts'

/** Runs a program of the service manager; returns whether it succeeded. Throws UsageError('bad-usage') if it cannot be run. */
export type RunManager = (call: ProgramCall, show: (line: string) => void) => Promise<boolean>

export interface ManageInput {
  readonly plan: SystemServicePlan
  readonly run: RunManager
}

/** The definition file, and the command lines that ran. */
export interface Done {
  readonly file: string
  readonly ran: readonly string[]
}

/** Writes the definition, enables the service and, with `startNow`, starts it. Throws FileError('io-error') or UsageError('bad-usage'). */
export async function installSystemService(input: ManageInput, filling: Filling, startNow: boolean): Promise<Done> {
  const { plan } = input
  await assertReachable(input)
  assertPlain([...filling.command, filling.tokenFile ?? ''])
  await writeDefinition(plan.file, plan.fill(await readTemplate(plan.template), filling))
  const ran = await runAll(input.run, [...plan.enable, ...(startNow ? plan.launch : [])])
  return { file: plan.file, ran }
}

/** Stops the service and removes its definition, never the state. Returns undefined if there is no definition. */
export async function uninstallSystemService(input: ManageInput): Promise<Done | undefined> {
  const { plan, run } = input
  if (isThere(plan.file)) await assertReachable(input)
  const stopped = await runAll(run, plan.disable)
  if (!(await removeDefinition(plan.file))) return undefined
  return { file: plan.file, ran: [...stopped, ...(await runAll(run, plan.forget))] }
}

export async function switchSystemService(input: ManageInput, to: 'start' | 'stop'): Promise<void> {
  await assertReachable(input)
  await runAll(input.run, input.plan[to])
}

/** Shows what the service manager says about the service. Returns whether the daemon runs. */
export async function showSystemService({ plan, run }: ManageInput, show: (line: string) => void): Promise<boolean> {
  const printed: string[] = []
  const isKnown = await run(plan.status, (line) => {
    printed.push(line)
    show(escapeLines(line))
  })
  return isKnown && (!plan.runningLine || printed.some((line) => plan.runningLine?.test(line)))
}

/** Throws UsageError('bad-usage') if the service manager does not answer. */
export async function assertReachable({ plan, run }: ManageInput): Promise<void> {
  if (!plan.reach || (await run(plan.reach.call, () => {}))) return
  throw new UsageError('bad-usage', plan.reach.otherwise)
}

/** Returns false if the log cannot be read. Throws UsageError('bad-usage') if the service manager has none. */
export async function showLogs(
  { plan, run }: ManageInput,
  options: LogOptions,
  show: (line: string) => void,
): Promise<boolean> {
  const call = plan.logs(options)
  if (!call) {
    const hint = 'run "shelfd daemon" in a terminal to see its messages'
    throw new UsageError('bad-usage', `Cannot show logs: this service manager keeps none; ${hint}`)
  }
  return await run(call, showEscaped(show))
}

async function runAll(run: RunManager, calls: readonly ProgramCall[]): Promise<string[]> {
  const ran: string[] = []
  for (const call of calls) {
    if (call.untilFails) {
      await waitUntilFails(run, call)
      continue
    }
    const lines: string[] = []
    const line = [call.program, ...call.args].join(' ')
    if (await run(call, (text) => lines.push(text))) ran.push(line)
    else if (!call.mayFail) throw new FileError('io-error', [`"${line}" failed`, ...lines.map(escapeLines)].join('\n'))
  }
  return ran
}

const POLL_MS = 200
/** Longer than any service manager gives the daemon to end. */
const ENDS_WITHIN_MS = 40_000

/** Returns also if the call still succeeds after ENDS_WITHIN_MS: the next call then fails, and says why. */
async function waitUntilFails(run: RunManager, call: ProgramCall): Promise<void> {
  const untilMs = performance.now() + ENDS_WITHIN_MS
  while (performance.now() < untilMs && (await run(call, () => {}))) await sleep(POLL_MS)
}

function assertPlain(words: readonly string[]): void {
  const unusable = words.find((word) => escapeText(word) !== word)
  if (unusable === undefined) return
  throw new UsageError('bad-usage', `Cannot write "${escapeText(unusable)}" into the definition of a service`)
}

function showEscaped(show: (line: string) => void): (line: string) => void {
  return (line) => show(escapeLines(line))
}

/** Returns the service manager of the current user or the system. Throws UsageError('bad-usage') if there is none. */
export function manageOwnSystemService(
  { env, home, signal }: { readonly env: Environment; readonly home: string; readonly signal: AbortSignal },
  isSystem: boolean,
): ManageInput {
  const uid = ownUid() ?? -1
  const name = isSystem ? 'root' : nameOfUser(uid)
  // After `su` and in cron jobs XDG_RUNTIME_DIR is missing, although the manager of a user with linger runs.
  const reachable = process.platform === 'linux' ? { XDG_RUNTIME_DIR: `/run/user/${uid}`, ...env } : env
  const plan = planSystemService({ platform: process.platform, isSystem, home, env, user: { uid, name } })
  return { plan, run: (call, onLine) => runManager({ ...call, env: reachable, signal, onLine }) }
}

async function runManager(call: RunCall): Promise<boolean> {
  call.signal?.throwIfAborted()
  const { failure } = await runProgram(call)
  if (failure === undefined) return true
  if (['exited', 'killed', 'stopped'].includes(failure.kind)) return false
  const why = describeFailure(call, failure)
  throw new UsageError('bad-usage', `Cannot reach the service manager: ${why}; start "shelfd daemon" yourself`)
}

function nameOfUser(uid: number): string {
  try {
    return userInfo().username
  } catch (error) {
    const text = `Cannot find the service manager of user ${uid}: this user has no entry in the password database (/etc/passwd)`
    throw new UsageError('bad-usage', `${text}; add one, or start "shelfd daemon" yourself`, { cause: error })
  }
}
