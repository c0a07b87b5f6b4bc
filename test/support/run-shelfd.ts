import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { CliIo } from '../../src/cli/terminal/cli-io.ts'
import type { Outcome, Variables } from './home.ts'

/** Names the `main` that tests run; the journeys and slow tests set it to the bundle (use-compiled-program.ts). */
export const PROGRAM_VARIABLE = 'SHELFD_TESTED_PROGRAM'

export const SOURCE_MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** The `main` under test, that of the source by default. */
export const MAIN = process.env[PROGRAM_VARIABLE] ?? SOURCE_MAIN

export interface Running {
  readonly child: ChildProcess
  /** Resolves when the process is gone; `exitCode` is null when a signal ended it. */
  readonly ended: Promise<Outcome>
  /** Returns what it has logged so far. */
  log(): string
  /** Resolves as soon as it has logged this; rejects when it ends without. */
  logged(text: string | RegExp): Promise<void>
  /** Kills it at once, and resolves when it is gone. */
  kill(): Promise<Outcome>
}

export interface Around {
  readonly env: Variables
  readonly cwd: string
  /** A program and its arguments that become the program given to them, such as `unshare -r`. */
  readonly launcher?: readonly string[]
  /** The `main` that is run. */
  readonly main?: string
}

/** Starts the real program in a process of its own, with exactly these variables. */
export function runShelfd(args: readonly string[], { env, cwd, launcher = [], main = MAIN }: Around): Running {
  const [program = process.execPath, ...rest] = [...launcher, process.execPath, main, ...args]
  const child = spawn(program, rest, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece
  })
  const log = () => stderr
  const ended = collect(child, text(child.stdout), log)
  const kill = () => {
    child.kill('SIGKILL')
    return ended
  }
  return { child, ended, log, logged: (wanted) => logs(child, log, wanted), kill }
}

/** The same for a test, which kills the process in the end. */
export function startShelfd(args: readonly string[], around: Around): Running {
  const running = runShelfd(args, around)
  onTestFinished(async () => void (await running.kill()))
  return running
}

function logs({ stderr }: ChildProcess, log: () => string, wanted: string | RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (typeof wanted === 'string' ? log().includes(wanted) : wanted.test(log())) resolve()
    }
    look()
    stderr?.on('data', look).once('end', () => reject(new Error(`Not logged: ${wanted}\n${log()}`)))
  })
}

async function collect(child: ChildProcess, stdout: Promise<string>, log: () => string): Promise<Outcome> {
  await once(child, 'close')
  return { exitCode: child.exitCode, stdout: await stdout, stderr: log() }
}

/** The parts of MAIN: a bundle loads in a tenth of the time that the sources take, and so do its threads. */
function loadParts(): Promise<typeof import('./program-parts.ts')> {
  return MAIN.endsWith('.ts') ? import('./program-parts.ts') : createRequire(MAIN)('./program-parts.js')
}

/** The program in this process: quick, and all of it but main.ts. */
export async function runHere(args: readonly string[], env: Variables, home: string): Promise<Outcome> {
  return await startHere(args, env, home).ended
}

interface RunningHere {
  readonly ended: Promise<Outcome>
  /** Both streams so far, as a terminal shows them. */
  output(): string
  /** Resolves to the first line on stdout; rejects when the program ends without one. */
  readonly firstLine: Promise<string>
  /** Asks it to stop, as Ctrl-C does. */
  stop(): Promise<void>
}

/** Starts the program in this process, for commands that run until they are stopped. */
export function startHere(args: readonly string[], env: Variables, home: string): RunningHere {
  const chunks: Buffer[] = []
  const keep = (chunk: Buffer) => void chunks.push(chunk)
  const stdout = new Collector(keep)
  const stderr = new Collector(keep)
  const stopping = new AbortController()
  const io: CliIo = {
    stdin: noInput(),
    stdout,
    stderr,
    isTerminal: { stdin: false, stdout: false, stderr: false },
    env,
    cwd: home,
    uid: undefined,
    home,
    signal: stopping.signal,
  }
  const run = async () => (await loadParts()).runCli(args, io)
  const ended = run().then((exitCode) => ({ exitCode, stdout: stdout.text, stderr: stderr.text }))
  const none = ended.then((outcome) => Promise.reject(new Error(`It printed nothing: ${outcome.stderr}`)))
  const firstLine = Promise.race([stdout.firstLine, none])
  // Most callers wait for the end instead.
  firstLine.catch(() => {})
  return {
    ended,
    output: () => Buffer.concat(chunks).toString('utf8'),
    firstLine,
    stop: async () => stopping.abort(new (await loadParts()).InterruptedError()),
  }
}

async function* noInput(): AsyncGenerator<Buffer> {}

/** Collects what a program in this process writes; `onWrite` sees each piece after it was collected. */
export class Collector extends Writable {
  readonly #chunks: Buffer[] = []
  readonly #onWrite: (chunk: Buffer) => void
  readonly #first = Promise.withResolvers<string>()
  readonly firstLine = this.#first.promise

  constructor(onWrite: (chunk: Buffer) => void = () => {}) {
    super()
    this.#onWrite = onWrite
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(Buffer.from(chunk))
    this.#onWrite(Buffer.from(chunk))
    const [line, ...others] = this.text.split('\n', 2)
    if (others.length > 0 && line !== undefined) this.#first.resolve(line)
    done()
  }
}
