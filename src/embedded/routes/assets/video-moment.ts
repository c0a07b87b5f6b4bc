import { z } from 'zod'
import { invalid } from '../../http/api-error.ts'
import type { Asset } from '../../http/require-access.ts'
import { durationOf } from '../../video/duration.ts'
import type { VideoMoment } from '../../video/video-pictures.ts'

const MAX_SECONDS = 999_999_999

/** A moment of a video in seconds (section 8). */
export const timestamp = z.number().min(0).max(MAX_SECONDS)

/** The same in a query. */
export const timestampInput = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,40})?(e-\d{1,3})?$/i, 'Must be a number of seconds from 0 on')
  .transform(Number)
  .meta({ type: 'number', minimum: 0 })

/** The moment of an asset in milliseconds; throws 422 when the asset is not a video, or ends before. */
export function requireMoment(asset: Asset, seconds: number): VideoMoment {
  if (asset.kind !== 'video') throw invalid('asset', 'The asset is not a video')
  const { resource } = asset
  const durationSeconds = durationOf(resource) ?? Number.POSITIVE_INFINITY
  if (seconds >= durationSeconds) throw invalid('timestamp_seconds', `The video ends after ${durationSeconds} seconds`)
  return { resource, momentMs: Math.floor(seconds * 1_000), durationMs: Math.ceil(durationSeconds * 1_000) }
}
