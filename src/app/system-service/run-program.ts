import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { systemCodeOf, UsageError } from '../../foundation/errors.ts'
import type { Environment } from '../settings/overrides.ts'
import type { ProgramCall } from './plans.ts'

interface ProgramResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null
}

export type RunProgram = (call: ProgramCall, show: (line: string) => void) => Promise<ProgramResult>

/** Programs get the environment without the access token, and SIGTERM when `signal` is aborted. */
export function createRunner(around: { readonly env: Environment; readonly signal: AbortSignal }): RunProgram {
  const { SHELFD_TOKEN: _, ...env } = around.env
  return async ({ program, args }, show) => {
    around.signal.throwIfAborted()
    const child = spawn(program, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
    const stop = () => child.kill('SIGTERM')
    around.signal.addEventListener('abort', stop, { once: true })
    try {
      return await collect(child, show)
    } catch (error) {
      throw systemCodeOf(error) === 'ENOENT' ? missing(program) : error
    } finally {
      around.signal.removeEventListener('abort', stop)
    }
  }
}

/** Starts a program that outlives this process, without the access token; false when it cannot be started. */
function startProgram({ program, args }: ProgramCall, environment: Environment): Promise<boolean> {
  const { SHELFD_TOKEN: _, ...env } = environment
  const child = spawn(program, [...args], { env, stdio: 'ignore', detached: true, windowsHide: true })
  child.unref()
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(true)).once('error', () => resolve(false))
  })
}

function collect(child: ChildProcess, show: (line: string) => void): Promise<ProgramResult> {
  for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on('line', show)
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (exitCode) => resolve({ exitCode }))
  })
}

function missing(program: string): UsageError {
  const message = `Cannot reach the service manager: there is no program "${program}"; start "shelfd daemon" yourself`
  return new UsageError('bad-usage', message)
}

/** Shows an address in the user's browser; false where there is no graphical session, or no program that does it. */
export async function openBrowser(url: string, env: Environment): Promise<boolean> {
  switch (process.platform) {
    case 'darwin':
      return await startProgram({ program: 'open', args: [url] }, env)
    case 'win32':
      return await startProgram({ program: 'rundll32', args: ['url.dll,FileProtocolHandler', url] }, env)
    default:
      if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return false
      return await startProgram({ program: 'xdg-open', args: [url] }, env)
  }
}
