import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { RouteName } from '../../contract/routes.ts'
import { invalid } from '../http/api-error.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { type Asset, requireAsset } from '../http/require-access.ts'
import { CONTENT_HEADERS, downloadQuery, PARTIAL_ANSWERS, sendContent } from '../http/send-content.ts'
import { durationOf, type VideoMoment } from '../video/video-pictures.ts'

const MAX_SECONDS = 999_999_999

/** A moment of a video in seconds. */
export const timestamp = z.number().min(0).max(MAX_SECONDS)

/** The same in a query. */
const timestampInput = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,40})?(e-\d{1,3})?$/i, 'Must be a number of seconds from 0 on')
  .transform(Number)
  .meta({ type: 'number', minimum: 0 })

export const downloadScene = representation('scene', {
  route: 'downloadScene',
  summary: 'The five-frame collage of a scene of a video',
  description: [
    'Five frames from the beginning to the end of the scene, side by side. A scene holds its start and not its end; another one',
    'begins where the picture changes altogether, and every 30 seconds.',
  ].join(' '),
})

export const downloadFrame = representation('frame', {
  route: 'downloadFrame',
  summary: 'One frame of a video',
  description: 'What a player shows at the moment, in the size of the video. Moments count in milliseconds.',
})

interface RepresentationSpec {
  readonly route: RouteName
  readonly summary: string
  readonly description: string
}

function representation(kind: 'scene' | 'frame', spec: RepresentationSpec): Endpoint {
  return endpoint({
    ...spec,
    takesSignedUrl: true,
    query: downloadQuery.extend({ timestamp_seconds: timestampInput }),
    answers: {
      200: { description: 'The picture', mediaType: 'image/png', headers: CONTENT_HEADERS },
      ...PARTIAL_ANSWERS,
    },
    errors: [401, 403, 404, 416, 422, 507],
    async handle(call) {
      const moment = requireMoment(requireAsset(call), call.query.timestamp_seconds)
      const bytes = await call.service.videos[kind](moment)
      return sendContent(call, {
        mimeType: 'image/png',
        sizeBytes: bytes.length,
        fileName: `${moment.resource.title}.${moment.momentMs / 1_000}s.png`,
        disposition: call.query.disposition,
        sha256: createHash('sha256').update(bytes).digest(),
        open: (range) => (range ? bytes.subarray(range.start, range.end + 1) : bytes),
      })
    },
  })
}

/** The moment of an asset in milliseconds; throws 422 when the asset is not a video, or ends before. */
export function requireMoment(asset: Asset, seconds: number): VideoMoment {
  if (asset.kind !== 'video') throw invalid('asset', 'The asset is not a video')
  const { resource } = asset
  const durationSeconds = durationOf(resource) ?? Number.POSITIVE_INFINITY
  if (seconds >= durationSeconds) throw invalid('timestamp_seconds', `The video ends after ${durationSeconds} seconds`)
  return { resource, momentMs: Math.floor(seconds * 1_000), durationMs: Math.ceil(durationSeconds * 1_000) }
}
