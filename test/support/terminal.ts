import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Variables } from './home.ts'
import { needs } from './needs.ts'
import { MAIN } from './run-shelfd.ts'

const PROGRAM = join(import.meta.dirname, 'terminal.py')
const PATIENCE_MS = 30_000

export const CTRL_C = '\x03'

/** The real program on a terminal of its own. */
export interface Terminal {
  /** Everything that the screen got so far, control sequences and all. */
  output(): string
  /** Resolves as soon as the screen got this text, in one piece. */
  shows(text: string | RegExp): Promise<void>
  /** What a person types; CTRL_C is a signal, as on any terminal. */
  type(keys: string): void
  readonly ended: Promise<{ readonly exitCode: number | null; readonly output: string }>
}

interface Around {
  readonly env: Variables
  readonly path: string
  /** The command that is started with the arguments; by default the program itself. */
  readonly program?: readonly string[]
}

/** Starts the program on a pseudo terminal, which lives no longer than the test. */
export function openTerminal(
  args: readonly string[],
  { env, path, program = [process.execPath, MAIN] }: Around,
  columns = 120,
): Terminal {
  needs('python3')
  const child = spawn('python3', [PROGRAM, String(columns), ...program, ...args], {
    env: { NO_COLOR: '1', ...env },
    cwd: path,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece
  })
  const ended = once(child, 'close').then(() => ({ exitCode: child.exitCode, output }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    output: () => output,
    shows: (text) => {
      const isShown = () => (typeof text === 'string' ? output.includes(text) : text.test(output))
      return new Promise((resolve, reject) => {
        const giveUp = () => reject(new Error(`Not shown: ${text}\n${JSON.stringify(output)}`))
        const timer = setTimeout(giveUp, PATIENCE_MS)
        const look = () => {
          if (!isShown()) return
          clearTimeout(timer)
          child.stdout.off('data', look).off('end', giveUp)
          resolve()
        }
        child.stdout.on('data', look).once('end', giveUp)
        look()
      })
    },
    type: (keys) => void child.stdin.write(keys),
    ended,
  }
}
