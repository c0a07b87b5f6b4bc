import { z } from 'zod'
import { inputOf, MissingProgramError, ProgramOverTimeError, runFfmpeg } from '../../read-by-program.ts'
import { completed, DocumentError, type ExtractionEnd, type ExtractionSink, unreadable } from './extraction.ts'
import { PieceJoiner } from './passage-splitter.ts'

const MAX_SUBTITLES = 8
/** The programs run in the process group of the process that reads the document, and are ended with it. */
const IN_READER = { group: 'caller' } as const
/** The tags that are text for people. */
const TEXTS =
  /^(?:title|artist|album|album_artist|composer|performer|genre|show|comment|description|synopsis|lyrics|lyricist|author|director|conductor|publisher|copyright|grouping|keywords|subtitle|series)\b/i

const UNKNOWN_TYPE = 'application/octet-stream'

const NO_PROGRAM = 'The programs ffprobe and ffmpeg are not installed: only its title is searchable'
const NO_SUBTITLES = 'It has no subtitles as text: only its title and tags are searchable'

/**
 * Extracts the tags, chapters and subtitles of a recording by the programs of FFmpeg. `types` are its possible MIME types, first the one
 * that it was sent with. Throws if it is damaged.
 */
export async function readMedia(path: string, types: readonly string[], sink: ExtractionSink): Promise<ExtractionEnd> {
  const videoType = types.find((type) => type.startsWith('video/'))
  try {
    const found = await probe(path)
    emitTags(found, sink)
    const cues = await emitSubtitles(path, found, sink)
    return {
      ...completed(...(cues > 0 ? [] : [NO_SUBTITLES])),
      properties: propertiesOf(found),
      ...(movingPictures(found) && { videoType: videoType ?? UNKNOWN_TYPE }),
    }
  } catch (error) {
    if (error instanceof MissingProgramError) return { ...completed(NO_PROGRAM), videoType }
    if (error instanceof ProgramOverTimeError) throw error
    throw unreadable('The recording is damaged', error)
  }
}

/** Emits the tags of the file and of its streams, where Ogg files have the tags of a song, and the titles of chapters. */
function emitTags({ format, streams, chapters }: Probed, sink: ExtractionSink): void {
  const joiner = new PieceJoiner('second', '\n', sink)
  const words = [format, ...streams].flatMap(({ tags }) => Object.entries(tags).filter(([name]) => TEXTS.test(name)))
  const end = Math.ceil(format.duration ?? 0)
  const lines = new Set(words.map(([name, value]) => `${name.toLowerCase()}: ${value.trim()}`))
  for (const line of lines) joiner.add(line, 0, undefined, end)
  for (const { start_time: from, end_time: to, tags } of chapters) {
    const title = tags.title?.trim() ?? ''
    if (title !== '') joiner.add(title, Math.floor(from), undefined, Math.ceil(to))
  }
  joiner.end()
}

/** Emits the subtitles, and returns the number of their lines. */
async function emitSubtitles(path: string, { streams }: Probed, sink: ExtractionSink): Promise<number> {
  const isText = ({ codec_type: type, codec_name: codec = '' }: Probed['streams'][number]) =>
    type === 'subtitle' && TEXT_SUBTITLES.includes(codec)
  let count = 0
  for (const { index } of streams.filter(isText).slice(0, MAX_SUBTITLES)) {
    const joiner = new PieceJoiner('second', '\n', sink)
    for (const { from, to, text } of await readSubtitles(path, index)) {
      joiner.add(text, Math.floor(from), undefined, Math.ceil(to))
      count += 1
    }
    joiner.end()
    await sink.drain()
  }
  return count
}

/** Returns the video stream; an attached picture, such as the cover of an album, is none. */
function movingPictures({ streams }: Probed) {
  return streams.find((stream) => stream.codec_type === 'video' && !stream.disposition?.attached_pic)
}

function propertiesOf(found: Probed) {
  const { format } = found
  const { width, height } = movingPictures(found) ?? {}
  const size = width !== undefined && height !== undefined ? { width, height } : {}
  return { ...(format.duration === undefined ? {} : { duration_seconds: format.duration }), ...size }
}

/** A line of a subtitle; times in seconds. */
interface Cue {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Codecs of subtitles that are text; others are pictures. */
const TEXT_SUBTITLES: readonly string[] = ['subrip', 'srt', 'ass', 'ssa', 'webvtt', 'mov_text', 'text']

const TIMES = /^((?:\d+:)?\d\d:\d\d\.\d{3}) --> ((?:\d+:)?\d\d:\d\d\.\d{3})/

async function readSubtitles(path: string, streamIndex: number): Promise<Cue[]> {
  const vtt = await runFfmpeg('ffmpeg', [...inputOf(path), '-map', `0:${streamIndex}`, '-f', 'webvtt', '-'], IN_READER)
  return parseCues(vtt.toString())
}

/** Parses WebVTT, without its markup (`<i>`) and without cues that have no text. */
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
        .replace(/<[^<>]*>/g, '')
        .trim()
      return start < 0 || text === '' ? [] : [{ from: inSeconds(from), to: inSeconds(to), text }]
    })
}

function inSeconds(time: string): number {
  return time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
}

const tags = z.record(z.string(), z.string()).default({})
const seconds = z.coerce.number().min(0)

const probed = z.object({
  format: z.object({ duration: seconds.optional(), tags }),
  streams: z.array(
    z.object({
      index: z.int(),
      codec_type: z.string().optional(),
      codec_name: z.string().optional(),
      width: z.int().optional(),
      height: z.int().optional(),
      tags,
      disposition: z.object({ attached_pic: z.int().default(0) }).optional(),
    }),
  ),
  chapters: z.array(z.object({ start_time: seconds, end_time: seconds, tags })).default([]),
})

/** A recording as ffprobe describes it; times in seconds. */
type Probed = z.infer<typeof probed>

/** Throws MissingProgramError, or another error if the recording is damaged. */
async function probe(path: string): Promise<Probed> {
  const shown = ['-show_format', '-show_streams', '-show_chapters', '-of', 'json']
  const json = await runFfmpeg('ffprobe', [...inputOf(path), ...shown], IN_READER)
  const found = probed.parse(JSON.parse(json.toString()))
  if (found.streams.length === 0) throw new DocumentError('it has neither sound nor pictures')
  return found
}
