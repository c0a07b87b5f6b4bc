import { inputOf, runFfmpeg } from '../../../ffmpeg/run-ffmpeg.ts'

/** A line of a subtitle; times in seconds. */
export interface Cue {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Codecs of subtitles that are text; others are pictures. */
export const TEXT_SUBTITLES: readonly string[] = ['subrip', 'srt', 'ass', 'ssa', 'webvtt', 'mov_text', 'text']

const TIMES = /^((?:\d+:)?\d\d:\d\d\.\d{3}) --> ((?:\d+:)?\d\d:\d\d\.\d{3})/

export async function readSubtitles(path: string, streamIndex: number): Promise<Cue[]> {
  const vtt = await runFfmpeg('ffmpeg', [...inputOf(path), '-map', `0:${streamIndex}`, '-f', 'webvtt', '-'])
  return parseCues(vtt.toString())
}

/** Reads WebVTT; leaves out its marks (`<i>`) and cues without words. */
export function parseCues(vtt: string): Cue[] {
  return vtt
    .replaceAll('\r', '')
    .split(/\n{2,}/)
    .flatMap((block) => {
      const lines = block.split('\n')
      const start = lines.findIndex((line) => TIMES.test(line))
      const [, from = '', to = ''] = TIMES.exec(lines[start] ?? '') ?? []
      const text = lines
        .slice(start + 1)
        .join('\n')
        .replace(/<[^>]*>/g, '')
        .trim()
      return start < 0 || text === '' ? [] : [{ from: inSeconds(from), to: inSeconds(to), text }]
    })
}

function inSeconds(time: string): number {
  return time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
}
