import { ProgramFailedError } from '../read-by-program.ts'
import { inputOf, runFfmpeg } from './run-ffmpeg.ts'

const COLLAGE_FRAME_WIDTH = 320
/** Frames beyond this size (8K and more) are not decoded. */
const MAX_PIXELS = 2 ** 26
/** Containers with an index of the frames that need no other ones. */
const WITH_INDEX = /^video\/(mp4|quicktime|x-m4v|3gpp2?|x-matroska|matroska|webm|x-msvideo|vnd\.avi)$/
/** Such frames are seldom further apart in other containers. */
const LEAD_MS = 15_000
/** Some containers count in frames, to which filters would round all times. */
const FINE_TIMES = 'settb=1/1000000'

export interface Video {
  readonly path: string
  readonly type: string
}

/** One frame of a video in its own size, as PNG: what a player shows at the moment. */
export async function drawFrame(video: Video, momentMs: number, signal: AbortSignal): Promise<Buffer> {
  return await draw(video, [momentMs], `${shownAt(momentMs, 0)},format=rgb24[out]`, signal)
}

/** Frames of a video side by side, as PNG. */
export async function drawCollage(video: Video, momentsMs: readonly number[], signal: AbortSignal): Promise<Buffer> {
  const frames = momentsMs.map((momentMs, index) => {
    return `${shownAt(momentMs, index)},scale=${COLLAGE_FRAME_WIDTH}:-2,setsar=1,format=rgb24[frame${index}]`
  })
  const joined = momentsMs.map((_, index) => `[frame${index}]`).join('')
  return await draw(video, momentsMs, `${frames.join(';')};${joined}hstack=inputs=${momentsMs.length}[out]`, signal)
}

/**
 * The moments (ms, ascending) after `fromMs` and before `toMs` at which the picture changes altogether. The frame that is shown at
 * `fromMs` is the first to be compared.
 */
export async function findChanges(
  video: Video,
  { startMs: fromMs, endMs: toMs }: { readonly startMs: number; readonly endMs: number },
  signal: AbortSignal,
): Promise<number[]> {
  const filters = [
    `trim=end=${toMs / 1_000}`,
    'scale=320:-2',
    FINE_TIMES,
    "select='gt(scene,0.3)'",
    'metadata=print:file=-',
  ]
  const output = ['-map', '0:V:0', '-vf', filters.join(','), '-f', 'null', '-']
  const printed = await runFfmpeg('ffmpeg', [...startAt(video, fromMs), ...output], { signal })
  const momentsMs = Array.from(printed.toString().matchAll(/\bpts:(\d+)/g), ([, us]) => Math.ceil(Number(us) / 1_000))
  return momentsMs.filter((momentMs) => momentMs > fromMs && momentMs < toMs)
}

async function draw(video: Video, momentsMs: readonly number[], filters: string, signal: AbortSignal): Promise<Buffer> {
  const inputs = momentsMs.flatMap((momentMs) => startAt(video, momentMs))
  const output = ['-filter_complex', filters, '-map', '[out]', '-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe', '-']
  const picture = await runFfmpeg('ffmpeg', [...inputs, ...output], { signal })
  if (picture.length === 0) throw new ProgramFailedError('nothing can be decoded there')
  return picture
}

/**
 * Opens the video at a frame before the moment that needs no other one, the last such frame where an index names it; times count from
 * the start of the video.
 */
function startAt({ path, type }: Video, momentMs: number): string[] {
  const fromMs = WITH_INDEX.test(type) ? momentMs : Math.max(0, momentMs - LEAD_MS)
  const at = ['-noaccurate_seek', '-ss', String(fromMs / 1_000), '-max_pixels', String(MAX_PIXELS)]
  return ['-copyts', '-start_at_zero', ...inputOf(path, ...at)]
}

/** The last frame of an input that does not come after the moment; after the end, the last one of all. */
function shownAt(momentMs: number, input: number): string {
  const held = `${FINE_TIMES},tpad=stop=-1:stop_mode=clone`
  return `[${input}:V:0]${held},fps=fps=1000:start_time=${momentMs / 1_000}:round=up,trim=end_frame=1,setpts=0`
}
