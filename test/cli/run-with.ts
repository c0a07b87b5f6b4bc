import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '../../src/cli/run-cli.ts'
import type { CliIo } from '../../src/cli/terminal/cli-io.ts'
import { InterruptedError } from '../../src/foundation/errors.ts'
import { Collector } from '../support/run-shelfd.ts'

export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Record<string, string>
  readonly stdin?: string
  /** The id of the user; undefined by default, as on Windows. */
  readonly uid?: number
  readonly isTerminal?: boolean
  /** The width of the terminal. */
  readonly columns?: number
  readonly asTyped?: CliIo['asTyped']
  readonly signal?: AbortSignal
  /** Called with everything written to stdout so far. */
  readonly onStdout?: (text: string) => void
}

/** A home directory of its own, and `shelfd` run in it, in this process. */
export function createHome() {
  const home = mkdtempSync(join(tmpdir(), 'shelfd-cli-'))
  return {
    home,
    /** `line` is split at blanks; a list is taken as it is. */
    shelfd: (line: string | readonly string[], options: RunOptions = {}): Promise<Outcome> => run(home, line, options),
  }
}

async function run(home: string, line: string | readonly string[], options: RunOptions): Promise<Outcome> {
  const { columns } = options
  const collected: Collector = new Collector(() => options.onStdout?.(collected.text))
  const stdout = Object.assign(collected, columns === undefined ? {} : { columns })
  const stderr = Object.assign(new Collector(), columns === undefined ? {} : { columns })
  const { isTerminal = false } = options
  const io: CliIo = {
    stdin: toStdin(options.stdin ?? ''),
    stdout,
    stderr,
    isTerminal: { stdin: isTerminal, stdout: isTerminal, stderr: isTerminal },
    env: { PATH: process.env.PATH, NO_COLOR: '1', SHELFD_NO_SYSTEM_CONFIG: '1', ...options.env },
    cwd: home,
    uid: options.uid,
    asTyped: options.asTyped,
    home,
    signal: options.signal ?? new AbortController().signal,
  }
  const argv = typeof line === 'string' ? line.split(' ').filter(Boolean) : line
  const exitCode = await runCli(argv, io)
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}

async function* toStdin(text: string) {
  yield Buffer.from(text)
}

/** A signal as main.ts gives it, and the function that aborts it. */
export function createStop() {
  const controller = new AbortController()
  return { signal: controller.signal, stop: () => controller.abort(new InterruptedError()) }
}
