/** A part of a video in milliseconds; it holds its start, but not its end. */
export interface Scene {
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
