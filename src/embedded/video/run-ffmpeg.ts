import type { ProgramCall } from '../../foundation/run-program.ts'
import { readByProgram } from '../read-by-program.ts'

/** Containers that hold sound or pictures themselves; the others (playlists, lists of files) name files and addresses to open. */
const FORMATS =
  'mov,mp4,m4a,3gp,3g2,matroska,webm,avi,flv,mpeg,mpegts,mpegvideo,asf,ogg,mp3,flac,wav,w64,aac,aiff,amr,caf,ac3,eac3'

export function inputOf(path: string, ...options: readonly string[]): string[] {
  return ['-protocol_whitelist', 'file', '-format_whitelist', FORMATS, ...options, '-i', `file:${path}`]
}

/** Runs a program of FFmpeg; returns what it prints. Throws as `readByProgram`. */
export async function runFfmpeg(
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  how: Pick<ProgramCall, 'signal' | 'group'>,
): Promise<Buffer> {
  const noInput = program === 'ffmpeg' ? ['-nostdin'] : []
  return await readByProgram(program, ['-hide_banner', '-v', 'error', ...noInput, ...args], how)
}
