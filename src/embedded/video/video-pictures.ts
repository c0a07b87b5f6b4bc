import PQueue from 'p-queue'
import { z } from 'zod'
import type { Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { ApiError, invalid } from '../http/api-error.ts'
import {
  inputOf,
  MissingProgramError,
  ProgramFailedError,
  ProgramOverTimeError,
  runFfmpeg,
  withTemporaryFile,
} from '../read-by-program.ts'
import { MAX_SMALL_BYTES } from '../storage/content-receiver.ts'
import type { FileStore } from '../storage/file-store.ts'
import type { PictureCache } from '../storage/picture-cache.ts'

export interface VideoMoment {
  readonly resource: ResourceRow
  readonly momentMs: number
  /** Infinity if the duration is unknown. */
  readonly durationMs: number
}

const CONCURRENT_PROGRAMS = 2
const MAX_WAITING = 32

const changesShape = z.array(z.int())

export type VideoPictures = ReturnType<typeof openVideoPictures>

/**
 * Opens the cached scenes and frames of videos as PNG, which ffmpeg draws at the first request. Its functions throw ApiError: 503 if
 * ffmpeg is not installed, takes too long or has too many requests, and 422 if the video shows nothing at the moment.
 */
export function openVideoPictures(tables: Tables, files: FileStore, cache: PictureCache) {
  const queue = new PQueue({ concurrency: CONCURRENT_PROGRAMS })
  const stopping = new AbortController()
  const { signal } = stopping
  const make = ({ sha256, ...resource }: ResourceRow, name: string, work: (video: Video) => Promise<Buffer>) =>
    cache.getOrMake(sha256, name, async () => {
      if (queue.size >= MAX_WAITING) throw new ApiError(503, 'Too many pictures of videos are being made')
      return await queue.add(() => withFile(tables, files, { ...resource, sha256 }, work))
    })
  return {
    frame: async ({ resource, momentMs }: VideoMoment) =>
      await make(resource, `frame-${momentMs}.png`, (video) => drawFrame(video, momentMs, signal)).catch(refuse),
    /** Returns five frames, side by side, of the scene that contains the moment. */
    scene: async ({ resource, momentMs, durationMs }: VideoMoment) => {
      const segment = segmentAt(momentMs, durationMs)
      const written = await make(resource, `changes-${segment.startMs}.json`, async (video) =>
        Buffer.from(JSON.stringify(await findChanges(video, segment, signal))),
      ).catch(refuse)
      const scene = sceneAt(momentMs, segment, changesShape.parse(JSON.parse(written.toString())))
      return await make(resource, `scene-${scene.startMs}-${scene.endMs}.png`, (video) =>
        drawCollage(video, collageMoments(scene), signal),
      ).catch(refuse)
    },
    stop: async () => {
      stopping.abort(new ApiError(503, 'The service is stopping'))
      await queue.onIdle()
    },
  }
}

/** Calls `work` with the content as a file for ffmpeg. A small content is in the database, so it is written to a temporary file. */
async function withFile(
  { smallContents }: Tables,
  files: FileStore,
  resource: ResourceRow,
  work: (video: Video) => Promise<Buffer>,
): Promise<Buffer> {
  const type = resource.videoType ?? ''
  if (resource.sizeBytes > MAX_SMALL_BYTES) return await work({ path: files.pathOf(resource.sha256), type })
  const bytes = smallContents.read(resource.id)
  if (!bytes) throw new ApiError(404, 'Asset not found')
  return await withTemporaryFile(bytes, files.temporaryDir, (path) => work({ path, type }))
}

/** Throws the ApiError for an error of ffmpeg, and any other error unchanged. */
function refuse(error: unknown): never {
  if (error instanceof MissingProgramError) {
    throw new ApiError(503, `${error.message} on the machine of this service`)
  }
  if (error instanceof ProgramOverTimeError) throw new ApiError(503, 'Making the picture took too long')
  if (!(error instanceof ProgramFailedError)) throw error
  throw invalid('timestamp_seconds', `The video shows no picture at this moment (${error.message})`)
}

/** A part of a video, with its start but without its end. */
interface Scene {
  readonly startMs: number
  readonly endMs: number
}

/** Scenes never cross a multiple of this time, so that only one segment of the video is decoded to find a scene. */
const SEGMENT_MS = 30_000
const COLLAGE_FRAMES = 5

/** Returns the segment of a video in which the scene of a moment is. */
export function segmentAt(momentMs: number, durationMs: number): Scene {
  const startMs = momentMs - (momentMs % SEGMENT_MS)
  return { startMs, endMs: Math.min(startMs + SEGMENT_MS, durationMs) }
}

/** Returns the scene that contains the moment. `changesMs` are the moments in the segment, ascending, at which a scene begins. */
export function sceneAt(momentMs: number, segment: Scene, changesMs: readonly number[]): Scene {
  const borders = [segment.startMs, ...changesMs, segment.endMs]
  const next = borders.findIndex((borderMs) => borderMs > momentMs)
  return { startMs: borders[next - 1] ?? segment.startMs, endMs: borders[next] ?? segment.endMs }
}

/** Returns the moments of the frames in the collage of a scene: the middles of its fifths. */
export function collageMoments({ startMs, endMs }: Scene): number[] {
  const fifthMs = (endMs - startMs) / COLLAGE_FRAMES
  return Array.from({ length: COLLAGE_FRAMES }, (_, index) => Math.floor(startMs + (index + 0.5) * fifthMs))
}

const timed = z.object({ duration_seconds: z.number().optional() })

/** Returns the duration of a recording in seconds; undefined if it is unknown. */
export function durationOf({ properties }: Pick<ResourceRow, 'properties'>): number | undefined {
  return timed.parse(JSON.parse(properties)).duration_seconds
}

const COLLAGE_FRAME_WIDTH = 320
/** Larger frames (8K and more) are not decoded. */
const MAX_PIXELS = 2 ** 26
/** The types of containers with an index of key frames, which can be decoded without other frames. */
const WITH_INDEX = /^video\/(mp4|quicktime|x-m4v|3gpp2?|x-matroska|matroska|webm|x-msvideo|vnd\.avi)$/
/** In containers without an index, decoding starts this long before the moment; key frames are seldom further apart. */
const LEAD_MS = 15_000
/** The filter for times in microseconds: some containers count time in frames, and filters would round to them. */
const FINE_TIMES = 'settb=1/1000000'

interface Video {
  readonly path: string
  readonly type: string
}

/** Returns the frame that a player shows at the moment, as PNG in its own size. */
export async function drawFrame(video: Video, momentMs: number, signal: AbortSignal): Promise<Buffer> {
  return await draw(video, [momentMs], `${shownAt(momentMs, 0)},format=rgb24[out]`, signal)
}

async function drawCollage(video: Video, momentsMs: readonly number[], signal: AbortSignal): Promise<Buffer> {
  const frames = momentsMs.map((momentMs, index) => {
    return `${shownAt(momentMs, index)},scale=${COLLAGE_FRAME_WIDTH}:-2,setsar=1,format=rgb24[frame${index}]`
  })
  const joined = momentsMs.map((_, index) => `[frame${index}]`).join('')
  return await draw(video, momentsMs, `${frames.join(';')};${joined}hstack=inputs=${momentsMs.length}[out]`, signal)
}

/** Returns the moments (ms, ascending) between `fromMs`, whose frame is the first compared, and `toMs` at which the picture changes. */
export async function findChanges(
  video: Video,
  { startMs: fromMs, endMs: toMs }: Scene,
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

/** Returns ffmpeg's arguments that open the video at a key frame before the moment: at the last one if there is an index. */
function startAt({ path, type }: Video, momentMs: number): string[] {
  const fromMs = WITH_INDEX.test(type) ? momentMs : Math.max(0, momentMs - LEAD_MS)
  const at = ['-noaccurate_seek', '-ss', String(fromMs / 1_000), '-max_pixels', String(MAX_PIXELS)]
  return ['-copyts', '-start_at_zero', ...inputOf(path, ...at)]
}

/** Returns the filters for the last frame of an input that is not after the moment. */
function shownAt(momentMs: number, input: number): string {
  const held = `${FINE_TIMES},tpad=stop=-1:stop_mode=clone`
  return `[${input}:V:0]${held},fps=fps=1000:start_time=${momentMs / 1_000}:round=up,trim=end_frame=1,setpts=0`
}
