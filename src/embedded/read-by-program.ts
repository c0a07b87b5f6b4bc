import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  describeFailure,
  findProgram,
  type ProgramCall,
  type ProgramFailure,
  runProgram,
} from '../foundation/run-program.ts'

const MAX_MS = 60_000
const MAX_OUTPUT_BYTES = 64 * 2 ** 20

/** Thrown when a program is not installed. */
export class MissingProgramError extends Error {}

/** Thrown when a program fails to read a file. */
export class ProgramFailedError extends Error {}

/** Thrown when a program takes longer than MAX_MS. */
export class ProgramOverTimeError extends Error {}

interface Reading extends Pick<ProgramCall, 'signal' | 'group'> {
  /** The most address space that the program may use, if the system can bound it; undefined means no bound. */
  readonly memoryKiB?: number
}

/** Sets the bound in a shell, which the program then replaces. */
const MEMORY_BOUND_SCRIPT = 'ulimit -v "$1" 2>/dev/null; shift; exec "$@"'

/**
 * Runs a program that reads foreign files, at a low priority, and returns its output. With `group: 'caller'` the program belongs to the
 * process group of the caller, and ends with it. Throws MissingProgramError, ProgramOverTimeError, ProgramFailedError with the program's
 * last line, or the reason of `signal`.
 */
export async function readByProgram(
  program: string,
  args: readonly string[],
  { memoryKiB, ...options }: Reading,
): Promise<Buffer> {
  options.signal?.throwIfAborted()
  const env = childEnvironment()
  const bounds = { timeoutMs: MAX_MS, maxStdoutBytes: MAX_OUTPUT_BYTES, isLowPriority: true }
  const call: ProgramCall = { program, args, env, ...bounds, ...options }
  const found = findProgram(program, env.PATH)
  if ('kind' in found) throw explain(call, found)
  const bounded = { program: 'sh', args: ['-c', MEMORY_BOUND_SCRIPT, 'sh', String(memoryKiB), found.file, ...args] }
  const { failure, stdout, printed } = await runProgram({ ...call, ...(memoryKiB !== undefined && bounded) })
  options.signal?.throwIfAborted()
  if (failure) throw explain(call, failure, printed)
  return stdout
}

/** Returns the environment for programs that read foreign files: without the variables of shelfd and without NODE_OPTIONS. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SHELFD_') && name !== 'NODE_OPTIONS')
  return Object.fromEntries(kept)
}

/** Writes the bytes to a temporary file, calls `use` with its path, and removes the file afterwards. */
export async function withTemporaryFile<Result>(
  bytes: Buffer,
  directory: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = join(directory, randomUUID())
  try {
    await writeFile(path, bytes, { mode: 0o600 })
    return await use(path)
  } finally {
    await rm(path, { force: true })
  }
}

/** Formats that hold sound or pictures themselves. Others, such as playlists, name further files and addresses to open. */
const FORMATS =
  'mov,mp4,m4a,3gp,3g2,matroska,webm,avi,flv,mpeg,mpegts,mpegvideo,asf,ogg,mp3,flac,wav,w64,aac,aiff,amr,caf,ac3,eac3'

/** Returns the arguments with which FFmpeg opens only this file. */
export function inputOf(path: string, ...options: readonly string[]): string[] {
  return ['-protocol_whitelist', 'file', '-format_whitelist', FORMATS, ...options, '-i', `file:${path}`]
}

/** Runs a program of FFmpeg and returns its output; throws the errors of `readByProgram`. */
export async function runFfmpeg(
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  options: Pick<ProgramCall, 'signal' | 'group'>,
): Promise<Buffer> {
  const noInput = program === 'ffmpeg' ? ['-nostdin'] : []
  return await readByProgram(program, ['-hide_banner', '-v', 'error', ...noInput, ...args], options)
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
