import { messageOf } from '../../../../foundation/errors.ts'
import { MissingProgramError } from '../../../ffmpeg/run-ffmpeg.ts'
import { completed, type ExtractionEnd, type ExtractionSink } from '../extraction.ts'
import { PlaceCutter } from '../place-cutter.ts'
import { type Probed, probe } from './probe.ts'
import { readSubtitles, TEXT_SUBTITLES } from './subtitles.ts'

const MAX_SUBTITLES = 8
/** Tags that hold words for a reader. */
const WORDS =
  /^(?:title|artist|album|album_artist|composer|performer|genre|show|comment|description|synopsis|lyrics)\b/i

const UNKNOWN_TYPE = 'application/octet-stream'

const NO_PROGRAM = 'The programs ffprobe and ffmpeg are not installed: only its title is searchable'
const NO_SUBTITLES = 'It has no subtitles as text: only its title and tags are searchable'

/**
 * Extracts tags, chapters and subtitles of a recording by the programs of FFmpeg. `types` are the MIME types it is taken for, the one
 * it was sent with first. Throws when it is damaged.
 */
export async function readMedia(path: string, types: readonly string[], sink: ExtractionSink): Promise<ExtractionEnd> {
  const videoType = types.find((type) => type.startsWith('video/'))
  try {
    const found = await probe(path)
    takeTags(found, sink)
    const cues = await takeSubtitles(path, found, sink)
    return {
      ...completed(...(cues > 0 ? [] : [NO_SUBTITLES])),
      properties: propertiesOf(found),
      ...(movingPictures(found) && { videoType: videoType ?? UNKNOWN_TYPE }),
    }
  } catch (error) {
    if (error instanceof MissingProgramError) return { ...completed(NO_PROGRAM), videoType }
    throw new Error(`The recording is damaged (${messageOf(error)})`, { cause: error })
  }
}

function takeTags({ format, chapters }: Probed, sink: ExtractionSink): void {
  const cutter = new PlaceCutter('second', '\n', sink)
  const words = Object.entries(format.tags).filter(([name]) => WORDS.test(name))
  const end = Math.ceil(format.duration ?? 0)
  for (const [name, value] of words) cutter.add(`${name.toLowerCase()}: ${value.trim()}`, 0, undefined, end)
  for (const { start_time: from, end_time: to, tags } of chapters) {
    const title = tags.title?.trim() ?? ''
    if (title !== '') cutter.add(title, Math.floor(from), undefined, Math.ceil(to))
  }
  cutter.end()
}

/** Returns the number of lines. */
async function takeSubtitles(path: string, { streams }: Probed, sink: ExtractionSink): Promise<number> {
  const isText = ({ codec_type: type, codec_name: codec = '' }: Probed['streams'][number]) =>
    type === 'subtitle' && TEXT_SUBTITLES.includes(codec)
  let count = 0
  for (const { index } of streams.filter(isText).slice(0, MAX_SUBTITLES)) {
    const cutter = new PlaceCutter('second', '\n', sink)
    for (const { from, to, text } of await readSubtitles(path, index)) {
      cutter.add(text, Math.floor(from), undefined, Math.ceil(to))
      count += 1
    }
    cutter.end()
    await sink.drain()
  }
  return count
}

/** A picture that is attached, such as the cover of an album, does not move. */
function movingPictures({ streams }: Probed) {
  return streams.find((stream) => stream.codec_type === 'video' && !stream.disposition?.attached_pic)
}

function propertiesOf(found: Probed) {
  const { format } = found
  const { width, height } = movingPictures(found) ?? {}
  const size = width !== undefined && height !== undefined ? { width, height } : {}
  return { ...(format.duration === undefined ? {} : { duration_seconds: format.duration }), ...size }
}
