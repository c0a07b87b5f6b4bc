import { type ChildProcess, spawn } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { systemCodeOf } from '../../foundation/errors.ts'
import type { Delivery } from '../../sync/notifications.ts'
import { assertTrustedProgram } from '../files/private-files.ts'
import type { Environment } from '../settings/overrides.ts'

export interface ProgramInput {
  readonly program: string
  readonly args: readonly string[]
  readonly input: string
  readonly env: Environment
  readonly signal: AbortSignal
}

const PROGRAM_TIMEOUT_MS = 30_000

/**
 * Runs a program with `input` on its stdin, for 30 s at most; its output is not read. It does not get the access token. Throws
 * UsageError('insecure-file') for one that others can change.
 */
export async function runProgram({ program, args, input, env, signal }: ProgramInput): Promise<Delivery> {
  if (isAbsolute(program)) assertTrustedProgram(program)
  const { SHELFD_TOKEN: _, ...shown } = env
  const child = spawn(program, [...args], { env: shown, stdio: ['pipe', 'ignore', 'ignore'], windowsHide: true })
  // A program that does not read its input is none the worse.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const stop = () => void child.kill('SIGKILL')
  const timer = setTimeout(stop, PROGRAM_TIMEOUT_MS)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await ended(program, child)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

function ended(program: string, child: ChildProcess): Promise<Delivery> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      const code = systemCodeOf(error)
      resolve({
        kind: 'not-sent',
        reason: code === 'ENOENT' ? `there is no program "${program}"` : (code ?? 'it cannot be run'),
      })
    })
    child.once('exit', (exitCode) => {
      if (exitCode === 0) resolve({ kind: 'sent' })
      else if (exitCode !== null) resolve({ kind: 'not-sent', reason: `"${program}" exited with ${exitCode}` })
      else resolve({ kind: 'doubt', reason: `"${program}" was stopped before it ended` })
    })
  })
}
