import { execFile } from 'node:child_process'
import { constants } from 'node:os'
import { promisify } from 'node:util'
import { lowerPriority } from '../foundation/concurrency/lower-priority.ts'
import { systemCodeOf } from '../foundation/errors.ts'
import { childEnvironment } from './child-environment.ts'

const run = promisify(execFile)

const MAX_MS = 60_000
const MAX_OUTPUT_BYTES = 64 * 2 ** 20

/** The program is not installed. */
export class MissingProgramError extends Error {}

/** The program could not do its work with the file. */
export class ProgramFailedError extends Error {}

/** The program took longer than it may. */
export class ProgramOverTimeError extends Error {}

/**
 * Runs a program that reads foreign files, at a low priority; returns what it prints. Throws MissingProgramError,
 * ProgramOverTimeError, ProgramFailedError with what the program complained of, or the reason of `signal`.
 */
export async function runProgram(program: string, args: readonly string[], signal?: AbortSignal): Promise<Buffer> {
  signal?.throwIfAborted()
  const running = run(program, args, {
    encoding: 'buffer',
    timeout: MAX_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    env: childEnvironment(),
    ...(signal && { signal }),
  })
  const { pid } = running.child
  try {
    if (pid !== undefined) lowerPriority(constants.priority.PRIORITY_LOW, pid)
    return (await running).stdout
  } catch (error) {
    signal?.throwIfAborted()
    throw explain(program, error)
  }
}

function explain(program: string, error: unknown): Error {
  if (systemCodeOf(error) === 'ENOENT') return new MissingProgramError(`The program ${program} is not installed`)
  if (isOverTime(error)) return new ProgramOverTimeError(`${program} took more than ${MAX_MS / 1_000} s`)
  return new ProgramFailedError(complaintOf(error), { cause: error })
}

function isOverTime(error: unknown): boolean {
  const isKilled = error instanceof Error && 'killed' in error && error.killed === true
  return isKilled && systemCodeOf(error) !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
}

function complaintOf(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  const lastLine = stderr.slice(stderr.lastIndexOf('\n') + 1)
  return lastLine.replace(/^.*?\/[^:]*: /, '') || 'the program was ended'
}
