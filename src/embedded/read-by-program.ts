import {
  describeFailure,
  findProgram,
  type ProgramCall,
  type ProgramFailure,
  runProgram,
} from '../foundation/run-program.ts'
import { childEnvironment } from './child-environment.ts'

const MAX_MS = 60_000
const MAX_OUTPUT_BYTES = 64 * 2 ** 20

/** The program is not installed. */
export class MissingProgramError extends Error {}

/** The program could not do its work with the file. */
export class ProgramFailedError extends Error {}

/** The program took longer than it may. */
export class ProgramOverTimeError extends Error {}

interface Reading extends Pick<ProgramCall, 'signal' | 'group'> {
  /** How much memory it may use, where the system can bound it. */
  readonly memoryKiB?: number
}

/** Bounds the memory of the shell, which then becomes the program. */
const MEMORY_BOUND_SCRIPT = 'ulimit -v "$1" 2>/dev/null; shift; exec "$@"'

/**
 * Runs a program that reads foreign files, at a low priority; returns what it prints. With `group: 'caller'` the program stays in the
 * process group of the document reader, and ends with it. Throws MissingProgramError, ProgramOverTimeError, ProgramFailedError with the
 * program's last line, or the reason of `signal`.
 */
export async function readByProgram(
  program: string,
  args: readonly string[],
  { memoryKiB, ...options }: Reading,
): Promise<Buffer> {
  options.signal?.throwIfAborted()
  const env = childEnvironment()
  const bounds = { timeoutMs: MAX_MS, mostStdoutBytes: MAX_OUTPUT_BYTES, isLowPriority: true }
  const call: ProgramCall = { program, args, env, ...bounds, ...options }
  const found = findProgram(program, env.PATH)
  if ('kind' in found) throw explain(call, found)
  const bounded = { program: 'sh', args: ['-c', MEMORY_BOUND_SCRIPT, 'sh', String(memoryKiB), found.file, ...args] }
  const { failure, stdout, printed } = await runProgram({ ...call, ...(memoryKiB !== undefined && bounded) })
  options.signal?.throwIfAborted()
  if (failure) throw explain(call, failure, printed)
  return stdout
}

function explain(call: ProgramCall, failure: ProgramFailure, printed = ''): Error {
  switch (failure.kind) {
    case 'missing':
      return new MissingProgramError(`The program ${call.program} is not installed`)
    case 'late':
      return new ProgramOverTimeError(`${call.program} took more than ${MAX_MS / 1_000} s`)
    case 'exited':
    case 'killed':
      return new ProgramFailedError(errorLineOf(printed))
    default:
      return new ProgramFailedError(describeFailure(call, failure))
  }
}

function errorLineOf(printed: string): string {
  const lastLine = printed.trim().split('\n').at(-1) ?? ''
  return lastLine.replace(/^.*?\/[^:]*: /, '') || 'the program ended without a message'
}
