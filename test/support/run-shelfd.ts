import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Outcome, Variables } from './home.ts'

/** Names the `main` that tests run; the journeys and endurance tests set it to the bundle (use-compiled-program.ts). */
export const PROGRAM_VARIABLE = 'SHELFD_TESTED_PROGRAM'

export const SOURCE_MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** The `main` under test, that of the source by default. */
export const MAIN = process.env[PROGRAM_VARIABLE] ?? SOURCE_MAIN

export interface Running {
  readonly child: ChildProcess
  /** Resolves when the process is gone; `exitCode` is null when a signal ended it. */
  readonly ended: Promise<Outcome>
  /** What it has logged so far. */
  log(): string
  /** Resolves as soon as it has logged this text; rejects when it ends without. */
  logged(text: string): Promise<void>
}

interface Around {
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
  return { child, ended: collect(child, text(child.stdout), log), log, logged: (wanted) => logs(child, log, wanted) }
}

function logs({ stderr }: ChildProcess, log: () => string, wanted: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (log().includes(wanted)) resolve()
    }
    look()
    stderr?.on('data', look).once('end', () => reject(new Error(`Not logged: ${wanted}\n${log()}`)))
  })
}

async function collect(child: ChildProcess, stdout: Promise<string>, log: () => string): Promise<Outcome> {
  await once(child, 'close')
  return { exitCode: child.exitCode, stdout: await stdout, stderr: log() }
}
