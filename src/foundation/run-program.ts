import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { constants as systemConstants } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { lowerPriority } from './concurrency/lower-priority.ts'
import { systemCodeOf } from './errors.ts'
import { findPathIntruder } from './files/trusted-path.ts'
import { formatDuration, formatSize } from './text/units.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Looked for in the PATH of `env` unless it is a path; gets `env` without the access token. */
interface Program {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Environment
}

export interface ProgramCall extends Program {
  readonly input?: string
  /** Without it, the program may run until `signal`. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** The result then has all of stdout; otherwise only the end of all output. */
  readonly mostStdoutBytes?: number
  /** Its output is dropped, so what it leaves running may go on printing. */
  readonly isSilent?: boolean
  readonly onLine?: (line: string) => void
  /** `caller`: it stays in the process group of its caller. Otherwise it gets its own, and is ended with all that it started there. */
  readonly group?: 'caller'
  readonly isLowPriority?: boolean
}

export type ProgramFailure =
  | { readonly kind: 'missing' }
  /** Others can change or exchange it: `why` is a message by itself. */
  | { readonly kind: 'untrusted'; readonly why: string }
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  /** It took too long, was stopped, or printed too much. */
  | { readonly kind: 'late' | 'stopped' | 'output' }

export interface ProgramResult {
  readonly failure?: ProgramFailure | undefined
  /** Empty without `mostStdoutBytes`. */
  readonly stdout: Buffer
  /** The end of its output, on stderr alone where stdout is kept. */
  readonly printed: string
}

const STOPPED: ProgramFailure = { kind: 'stopped' }
const GRACE_MS = 2_000
/** Programs that it left running may hold its output open for this time. */
const DRAIN_MS = 1_000
const POLL_MS = 20
/** Node's longest timer: 24 days. */
const MAX_MS = 2 ** 31 - 1
const KEPT_BYTES = 2_000
const IS_WINDOWS = process.platform === 'win32'

/** Never rejects because of the program or the system; see `ProgramFailure`. */
export async function runProgram(call: ProgramCall): Promise<ProgramResult> {
  const isOwnGroup = call.group !== 'caller' && !IS_WINDOWS
  const child = call.signal?.aborted
    ? STOPPED
    : begin(call, { stdio: call.isSilent ? ['pipe', 'ignore', 'ignore'] : 'pipe', detached: isOwnGroup })
  if (!(child instanceof ChildProcess)) return { failure: child, stdout: Buffer.alloc(0), printed: '' }
  const stop = Promise.withResolvers<ProgramFailure>()
  const output = collectOutput(child, call, () => stop.resolve({ kind: 'output' }))
  const ended = endOf(child)
  const closed = new Promise<void>((done) => child.once('close', () => done()))
  const onAbort = () => stop.resolve(STOPPED)
  call.signal?.addEventListener('abort', onAbort)
  const timer = setTimeout(() => stop.resolve({ kind: 'late' }), Math.min(call.timeoutMs ?? MAX_MS, MAX_MS))
  const pid = child.pid ?? 0
  const target = isOwnGroup ? -pid : pid
  noteRunning(target)
  if (call.isLowPriority && pid !== 0) lowerPriority(systemConstants.priority.PRIORITY_LOW, pid)
  try {
    // A program need not read its input.
    child.stdin?.on('error', () => {}).end(call.input)
    const stopped = await Promise.race([ended.then(() => undefined), stop.promise])
    if (stopped) await endAll(child, target, ended)
    const failure = stopped ?? (await ended)
    await atMost(closed, DRAIN_MS)
    const whole = output.stdout()
    return {
      failure: failure ?? (whole ? undefined : { kind: 'output' }),
      stdout: whole ?? Buffer.alloc(0),
      printed: output.printed(),
    }
  } finally {
    clearTimeout(timer)
    call.signal?.removeEventListener('abort', onAbort)
    running.delete(target)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    // Not even SIGKILL ends a program that waits for a dead disk.
    child.unref()
  }
}

/** The program outlives this process; false when it cannot be started. */
export function startProgram(program: Program): Promise<boolean> {
  const child = begin(program, { stdio: 'ignore', detached: true })
  if (!(child instanceof ChildProcess)) return Promise.resolve(false)
  child.unref()
  return new Promise((done) => {
    child.once('spawn', () => done(true)).once('error', () => done(false))
  })
}

export function describeFailure({ program, timeoutMs, mostStdoutBytes }: ProgramCall, failure: ProgramFailure): string {
  switch (failure.kind) {
    case 'missing':
      return `there is no program "${program}"`
    case 'untrusted':
      return failure.why
    case 'unusable':
      return `"${program}" cannot be run (${failure.why})`
    case 'exited':
      return `"${program}" exited with ${failure.exitCode}`
    case 'killed':
      return `"${program}" was ended by ${failure.signal}`
    case 'late':
      return `"${program}" did not end within ${formatDuration(timeoutMs ?? 0)}`
    case 'stopped':
      return `"${program}" was stopped before it ended`
    case 'output':
      return `"${program}" printed more than ${formatSize(mostStdoutBytes ?? 0)}`
  }
}

const DEFAULT_PATH = '/bin:/usr/bin'

/** Returns the file, or why there is none. Windows adds further names, and has no such owners. */
export function findProgram(program: string, path = DEFAULT_PATH): { readonly file: string } | ProgramFailure {
  if (IS_WINDOWS) return { file: program }
  const isPath = program.includes('/')
  const places = path.split(delimiter).filter((directory) => isAbsolute(directory))
  const files = isPath ? [resolve(program)] : places.map((directory) => join(directory, program))
  const problems = files.map((file) => ({ file, problem: problemOf(file) }))
  const found = problems.find(({ problem }) => problem === undefined)
  if (found) return distrust(found.file) ?? found
  // This user finds nothing in a directory that cannot be searched.
  const known = problems.find(({ file, problem }) => problem !== 'ENOENT' && (isPath || isThere(file)))
  return known?.problem === undefined ? { kind: 'missing' } : unusable(known.problem)
}

function problemOf(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile() ? undefined : 'EACCES'
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown'
    return code === 'ENOTDIR' ? 'ENOENT' : code
  }
}

function isThere(file: string): boolean {
  try {
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The file that is checked here is the one that runs: only this user and root can exchange it. */
function distrust(file: string): ProgramFailure | undefined {
  const intruder = findPathIntruder(file)
  if (!intruder) return undefined
  const which = intruder.path === file ? '' : ` "${intruder.path}" decides which file that is,`
  return {
    kind: 'untrusted',
    why: `Cannot use "${file}": it is to be run,${which} and ${intruder.why}; run: ${intruder.fix}`,
  }
}

function begin({ program, args, env }: Program, options: SpawnOptions): ChildProcess | ProgramFailure {
  try {
    const found = findProgram(program, env.PATH)
    if ('kind' in found) return found
    const { SHELFD_TOKEN: _, ...shown } = env
    return spawn(found.file, [...args], { ...options, env: shown, argv0: program, windowsHide: true })
  } catch (error) {
    return unusable(systemCodeOf(error))
  }
}

function endOf(child: ChildProcess): Promise<ProgramFailure | undefined> {
  return new Promise((done) => {
    child.once('error', (error) => done(unusable(systemCodeOf(error))))
    child.once('exit', (exitCode, signal) => {
      if (exitCode === 0) done(undefined)
      else done(exitCode === null ? { kind: 'killed', signal: signal ?? 'a signal' } : { kind: 'exited', exitCode })
    })
  })
}

function unusable(code = 'for an unknown reason'): ProgramFailure {
  if (code === 'ENOENT')
    return IS_WINDOWS ? { kind: 'missing' } : { kind: 'unusable', why: 'its interpreter is missing' }
  return { kind: 'unusable', why: code }
}

async function endAll(child: ChildProcess, target: number, ended: Promise<unknown>): Promise<void> {
  if (IS_WINDOWS) child.kill()
  else if (signalTo(target, 'SIGTERM')) {
    const untilMs = performance.now() + GRACE_MS
    while (signalTo(target, 0)) {
      if (performance.now() >= untilMs) {
        signalTo(target, 'SIGKILL')
        break
      }
      await pause(POLL_MS)
    }
  }
  await atMost(ended, GRACE_MS)
}

async function atMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  const waiting = new AbortController()
  await Promise.race([work, pause(limitMs, undefined, { signal: waiting.signal }).catch(() => {})])
  waiting.abort()
}

function signalTo(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // 0 would be the group of this process.
    return target !== 0 && process.kill(target, signal)
  } catch {
    return false
  }
}

const running = new Set<number>()

function noteRunning(target: number): void {
  running.add(target)
  process.off('exit', endRunning)
  // Before the listener that ends this process at once because a thread of it hangs.
  process.prependListener('exit', endRunning)
}

function endRunning(): void {
  for (const target of running) signalTo(target, 'SIGKILL')
}

function collectOutput(child: ChildProcess, { mostStdoutBytes, onLine }: ProgramCall, onFull: () => void) {
  const chunks: Buffer[] = []
  let end = Buffer.alloc(0)
  let sizeBytes = 0
  const take = (chunk: Buffer, isKept: boolean) => {
    if (!isKept || mostStdoutBytes === undefined) {
      end = Buffer.concat([end, chunk]).subarray(-KEPT_BYTES)
      return
    }
    sizeBytes += chunk.length
    if (sizeBytes > mostStdoutBytes) onFull()
    else chunks.push(chunk)
  }
  for (const input of [child.stdout, child.stderr]) {
    if (onLine && input) createInterface({ input }).on('line', onLine)
    input?.on('error', () => {}).on('data', (chunk: Buffer) => take(chunk, input === child.stdout))
  }
  return {
    /** Undefined when there was too much of it. */
    stdout: () => (sizeBytes > (mostStdoutBytes ?? 0) ? undefined : Buffer.concat(chunks)),
    printed: () => end.toString('utf8'),
  }
}
