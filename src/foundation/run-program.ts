import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { constants as systemConstants } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { lowerPriority } from './concurrency/lower-priority.ts'
import { onAbort } from './concurrency/waits.ts'
import { systemCodeOf } from './errors.ts'
import { findPathIntruder } from './files/trusted-path.ts'
import { formatDuration, formatSize } from './text/units.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `program` is a path, or a name that is looked up in the PATH of `env`. The program gets `env` without the access token. */
interface Program {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Environment
}

export interface ProgramCall extends Program {
  readonly input?: string
  /** After this time the program is stopped; if undefined, it may run without end. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** If set, the result has all of stdout, and more bytes are a failure. If undefined, it has only the end of stdout and stderr. */
  readonly maxStdoutBytes?: number
  /** Discards the output, so that processes that the program leaves running can still write. */
  readonly isSilent?: boolean
  readonly onLine?: (line: string) => void
  /** `caller`: the program stays in the process group of this process. Otherwise it gets a group, and a stop ends the whole group. */
  readonly group?: 'caller'
  readonly isLowPriority?: boolean
}

export type ProgramFailure =
  | { readonly kind: 'missing' }
  /** Other users can change or replace the program; `why` is a complete message. */
  | { readonly kind: 'untrusted'; readonly why: string }
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'killed'; readonly signal: string }
  /** The program took too long, was stopped, or printed too much. */
  | { readonly kind: 'late' | 'stopped' | 'output' }

export interface ProgramResult {
  readonly failure?: ProgramFailure | undefined
  /** Empty without `maxStdoutBytes`. */
  readonly stdout: Buffer
  /** The end of the output; with `maxStdoutBytes`, of stderr alone. */
  readonly printed: string
}

const STOPPED: ProgramFailure = { kind: 'stopped' }
const GRACE_MS = 2_000
/** How long to wait for the end of the output, because processes that the program left running may hold it open. */
const DRAIN_MS = 1_000
const POLL_MS = 20
/** Node's longest timer: 24 days. */
const MAX_MS = 2 ** 31 - 1
const MAX_PRINTED_BYTES = 2_000
const IS_WINDOWS = process.platform === 'win32'

/** Runs a program. A failure of the program or the system is in the result; it does not reject. */
export async function runProgram(call: ProgramCall): Promise<ProgramResult> {
  const isOwnGroup = call.group !== 'caller' && !IS_WINDOWS
  const child = call.signal?.aborted
    ? STOPPED
    : spawnProgram(call, { stdio: call.isSilent ? ['pipe', 'ignore', 'ignore'] : 'pipe', detached: isOwnGroup })
  if (!(child instanceof ChildProcess)) return { failure: child, stdout: Buffer.alloc(0), printed: '' }
  const stop = Promise.withResolvers<ProgramFailure>()
  const output = collectOutput(child, call, () => stop.resolve({ kind: 'output' }))
  const ended = endOf(child)
  const closed = new Promise<void>((done) => child.once('close', () => done()))
  using _stopping = call.signal && onAbort(call.signal, () => stop.resolve(STOPPED))
  const { timeoutMs } = call
  const onLate = () => stop.resolve({ kind: 'late' })
  const timer = timeoutMs === undefined ? undefined : setTimeout(onLate, Math.min(timeoutMs, MAX_MS))
  const pid = child.pid ?? 0
  const target = isOwnGroup ? -pid : pid
  trackRunning(target)
  if (call.isLowPriority && pid !== 0) lowerPriority(systemConstants.priority.PRIORITY_LOW, pid)
  try {
    // Writing fails if the program does not read its input, which it need not.
    child.stdin?.on('error', () => {}).end(call.input)
    const stopped = await Promise.race([ended.then(() => undefined), stop.promise])
    if (stopped) await endAll(child, target, ended)
    const failure = stopped ?? (await ended)
    await waitAtMost(closed, DRAIN_MS)
    const stdout = output.stdout()
    return {
      failure: failure ?? (stdout ? undefined : { kind: 'output' }),
      stdout: stdout ?? Buffer.alloc(0),
      printed: output.printed(),
    }
  } finally {
    clearTimeout(timer)
    running.delete(target)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    // A program that waits for a dead disk ends not even by SIGKILL, and must not keep this process alive.
    child.unref()
  }
}

/** Starts a program that outlives this process; resolves with false if it cannot be started. */
export function startProgram(program: Program): Promise<boolean> {
  const child = spawnProgram(program, { stdio: 'ignore', detached: true })
  if (!(child instanceof ChildProcess)) return Promise.resolve(false)
  child.unref()
  return new Promise((done) => {
    child.once('spawn', () => done(true)).once('error', () => done(false))
  })
}

export function describeFailure({ program, timeoutMs, maxStdoutBytes }: ProgramCall, failure: ProgramFailure): string {
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
      return `"${program}" printed more than ${formatSize(maxStdoutBytes ?? 0)}`
  }
}

const DEFAULT_PATH = '/bin:/usr/bin'

/** Returns a program's file, or why there is none. On Windows, which adds extensions and has no owners by number, it checks nothing. */
export function findProgram(program: string, path = DEFAULT_PATH): { readonly file: string } | ProgramFailure {
  if (IS_WINDOWS) return { file: program }
  const isPath = program.includes('/')
  const directories = path.split(delimiter).filter((directory) => isAbsolute(directory))
  const files = isPath ? [resolve(program)] : directories.map((directory) => join(directory, program))
  const problems = files.map((file) => ({ file, problem: problemOf(file) }))
  const found = problems.find(({ problem }) => problem === undefined)
  if (found) return distrust(found.file) ?? found
  // In a directory that this user cannot search, a file counts as missing.
  const unusableFile = problems.find(({ file, problem }) => problem !== 'ENOENT' && (isPath || isExistingFile(file)))
  return unusableFile?.problem === undefined ? { kind: 'missing' } : unusable(unusableFile.problem)
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

function isExistingFile(file: string): boolean {
  try {
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Returns a failure if anybody but this user and root can exchange the file between this check and its start. */
function distrust(file: string): ProgramFailure | undefined {
  const intruder = findPathIntruder(file)
  if (!intruder) return undefined
  const which = intruder.path === file ? '' : `it is reached through "${intruder.path}", and `
  return {
    kind: 'untrusted',
    why: `Cannot run "${file}": ${which}${intruder.why}; run: ${intruder.fix}`,
  }
}

function spawnProgram({ program, args, env }: Program, options: SpawnOptions): ChildProcess | ProgramFailure {
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
  await waitAtMost(ended, GRACE_MS)
}

async function waitAtMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  const waiting = new AbortController()
  await Promise.race([work, pause(limitMs, undefined, { signal: waiting.signal }).catch(() => {})])
  waiting.abort()
}

function signalTo(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // The target 0 would be the process group of this process.
    return target !== 0 && process.kill(target, signal)
  } catch {
    return false
  }
}

const running = new Set<number>()

function trackRunning(target: number): void {
  running.add(target)
  process.off('exit', endRunning)
  // `endRunning` must run before the listener that ends this process at once if a thread hangs.
  process.prependListener('exit', endRunning)
}

function endRunning(): void {
  for (const target of running) signalTo(target, 'SIGKILL')
}

function collectOutput(child: ChildProcess, { maxStdoutBytes, onLine }: ProgramCall, onFull: () => void) {
  const chunks: Buffer[] = []
  let end = Buffer.alloc(0)
  let sizeBytes = 0
  const collect = (chunk: Buffer, isKept: boolean) => {
    if (!isKept || maxStdoutBytes === undefined) {
      end = Buffer.concat([end, chunk]).subarray(-MAX_PRINTED_BYTES)
      return
    }
    sizeBytes += chunk.length
    if (sizeBytes > maxStdoutBytes) onFull()
    else chunks.push(chunk)
  }
  for (const input of [child.stdout, child.stderr]) {
    if (onLine && input) createInterface({ input }).on('line', onLine)
    input?.on('error', () => {}).on('data', (chunk: Buffer) => collect(chunk, input === child.stdout))
  }
  return {
    /** Returns undefined if there was more than `maxStdoutBytes`. */
    stdout: () => (sizeBytes > (maxStdoutBytes ?? 0) ? undefined : Buffer.concat(chunks)),
    printed: () => end.toString('utf8'),
  }
}
