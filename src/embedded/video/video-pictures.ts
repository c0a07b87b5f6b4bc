import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { z } from 'zod'
import type { Tables } from '../database/open-tables.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { ApiError, invalid } from '../http/api-error.ts'
import { MissingProgramError, ProgramFailedError, ProgramOverTimeError } from '../read-by-program.ts'
import { MAX_SMALL_BYTES } from '../storage/content-receiver.ts'
import type { FileStore } from '../storage/file-store.ts'
import type { PictureCache } from '../storage/picture-cache.ts'
import { drawCollage, drawFrame, findChanges, type Video } from './draw-pictures.ts'

export interface VideoMoment {
  readonly resource: ResourceRow
  readonly momentMs: number
  /** Infinite when it is not known. */
  readonly durationMs: number
}

interface VideoPicturesSpec {
  readonly tables: Tables
  readonly files: FileStore
  readonly cache: PictureCache
}

const CONCURRENT_PROGRAMS = 2
const MAX_WAITING = 32

const changesShape = z.array(z.int())

export type VideoPictures = ReturnType<typeof openVideoPictures>

/**
 * The scenes and frames of videos as PNG, made by ffmpeg when they are first asked for. Throws ApiError: 503 when ffmpeg is not
 * installed, takes too long or has too much to do, and 422 when the video shows nothing at the moment.
 */
export function openVideoPictures({ tables, files, cache }: VideoPicturesSpec) {
  const queue = new PQueue({ concurrency: CONCURRENT_PROGRAMS })
  const stopping = new AbortController()
  const { signal } = stopping
  const make = ({ sha256, ...resource }: ResourceRow, name: string, work: (video: Video) => Promise<Buffer>) =>
    cache.take(sha256, name, async () => {
      if (queue.size >= MAX_WAITING) throw new ApiError(503, 'Too many pictures of videos are being made')
      return await queue.add(() => withFile(tables, files, { ...resource, sha256 }, work))
    })
  return {
    frame: async ({ resource, momentMs }: VideoMoment) =>
      await make(resource, `frame-${momentMs}.png`, (video) => drawFrame(video, momentMs, signal)).catch(refuse),
    /** Five frames of the scene that holds the moment. */
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

/** Gives a content to ffmpeg as a file; a small one is in the database and is written to a temporary file. */
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
  const path = join(files.temporaryDir, randomUUID())
  try {
    await writeFile(path, bytes, { mode: 0o600 })
    return await work({ path, type })
  } finally {
    await rm(path, { force: true })
  }
}

function refuse(error: unknown): never {
  if (error instanceof MissingProgramError) {
    throw new ApiError(503, `${error.message} on the machine of this service`)
  }
  if (error instanceof ProgramOverTimeError) throw new ApiError(503, 'Making the picture took too long')
  if (!(error instanceof ProgramFailedError)) throw error
  throw invalid('timestamp_seconds', `The video shows no picture at this moment (${error.message})`)
}

/** A part of a video in milliseconds; it holds its start, but not its end. */
interface Scene {
  readonly startMs: number
  readonly endMs: number
}

/** A scene ends at a multiple of this at the latest, so that finding it takes no more than this much of the video. */
const SEGMENT_MS = 30_000
const COLLAGE_FRAMES = 5

/** The part of a video in which the scene of a moment lies. */
export function segmentAt(momentMs: number, durationMs: number): Scene {
  const startMs = momentMs - (momentMs % SEGMENT_MS)
  return { startMs, endMs: Math.min(startMs + SEGMENT_MS, durationMs) }
}

/** The scene that holds the moment; `changesMs` are the moments of its segment, ascending, at which another scene begins. */
export function sceneAt(momentMs: number, segment: Scene, changesMs: readonly number[]): Scene {
  const borders = [segment.startMs, ...changesMs, segment.endMs]
  const next = borders.findIndex((borderMs) => borderMs > momentMs)
  return { startMs: borders[next - 1] ?? segment.startMs, endMs: borders[next] ?? segment.endMs }
}

/** The moments of the frames of a scene's collage: the middles of its fifths. */
export function collageMoments({ startMs, endMs }: Scene): number[] {
  const fifthMs = (endMs - startMs) / COLLAGE_FRAMES
  return Array.from({ length: COLLAGE_FRAMES }, (_, index) => Math.floor(startMs + (index + 0.5) * fifthMs))
}

const timed = z.object({ duration_seconds: z.number().optional() })

/** The duration of a recording in seconds; undefined when it is not known. */
export function durationOf({ properties }: Pick<ResourceRow, 'properties'>): number | undefined {
  return timed.parse(JSON.parse(properties)).duration_seconds
}
