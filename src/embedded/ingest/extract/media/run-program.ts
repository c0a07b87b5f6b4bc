import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { systemCodeOf } from '../../../../foundation/errors.ts'

const run = promisify(execFile)

const MAX_MS = 60_000
const MAX_OUTPUT_BYTES = 32 * 2 ** 20

/** Containers that hold sound or pictures themselves; the others (playlists, lists of files) name files and addresses to open. */
const FORMATS =
  'mov,mp4,m4a,3gp,3g2,matroska,webm,avi,flv,mpeg,mpegts,mpegvideo,asf,ogg,mp3,flac,wav,w64,aac,aiff,amr,caf,ac3,eac3'

const SAFE = ['-hide_banner', '-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', FORMATS]

/** The program is not installed. */
export class MissingProgramError extends Error {}

/** Runs a program of FFmpeg on a file; returns what it prints. Throws MissingProgramError, or what the program complained of. */
export async function runOnFile(
  program: 'ffmpeg' | 'ffprobe',
  path: string,
  after: readonly string[],
): Promise<string> {
  const input = program === 'ffmpeg' ? ['-nostdin', ...SAFE, '-i', `file:${path}`] : [...SAFE, `file:${path}`]
  try {
    const options = { timeout: MAX_MS, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const
    return (await run(program, [...input, ...after], options)).stdout
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') throw new MissingProgramError(`${program} is not installed`)
    throw new Error(complaintOf(error), { cause: error })
  }
}

function complaintOf(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  const lastLine = stderr.slice(stderr.lastIndexOf('\n') + 1)
  return lastLine.replace(/^.*?\/[^:]*: /, '') || 'the program was ended'
}
