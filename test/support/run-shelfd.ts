import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Outcome, Variables } from './home.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

export interface Running {
  readonly child: ChildProcess
  /** Resolves when the process is gone; `exitCode` is null when a signal ended it. */
  readonly ended: Promise<Outcome>
}

/** Starts the real program in a process of its own, with exactly these variables. */
export function runShelfd(args: readonly string[], around: { readonly env: Variables; readonly cwd: string }): Running {
  const child = spawn(process.execPath, [MAIN, ...args], { ...around, stdio: ['ignore', 'pipe', 'pipe'] })
  return { child, ended: collect(child, text(child.stdout), text(child.stderr)) }
}

async function collect(child: ChildProcess, stdout: Promise<string>, stderr: Promise<string>): Promise<Outcome> {
  await once(child, 'close')
  return { exitCode: child.exitCode, stdout: await stdout, stderr: await stderr }
}
