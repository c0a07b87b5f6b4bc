import { createHash } from 'node:crypto'
import { z } from 'zod'
import { API_PREFIX, fillPath, ROUTES } from '../../contract/routes.ts'
import { MINUTE_MS } from '../../foundation/text/times.ts'
import type { ResourceRow } from '../database/resources-table.ts'
import { invalid } from '../http/api-error.ts'
import type { EndpointDescription } from '../http/describe-endpoint.ts'
import { type Call, type Endpoint, endpoint, originOf, type QueryCall } from '../http/endpoint.ts'
import { exactAssetUrl, exactResourceUrl, REPRESENTATIONS } from '../http/exact-records.ts'
import { type Asset, requireAsset, requireResource } from '../http/require-access.ts'
import { CONTENT_HEADERS, downloadQuery, OTHER_RESPONSES, type SentContent, sendContent } from '../http/send-content.ts'
import { signedPath, VIEW_URL_MINUTES } from '../http/signing.ts'
import { readContent } from '../storage/file-store.ts'
import { durationOf, type VideoMoment } from '../video/video-pictures.ts'

export const downloadResource = endpoint({
  route: 'downloadResource',
  summary: 'Download the original file',
  description: 'With its original name and the MIME type of its upload. Signed URLs (4.16) are accepted as well.',
  takesSignedUrl: true,
  query: downloadQuery,
  responses: {
    200: { description: 'The bytes as uploaded', mediaType: '*/*', headers: CONTENT_HEADERS },
    ...OTHER_RESPONSES,
  },
  errors: [401, 403, 404, 416, 422],
  handle(call) {
    const resource = requireResource(call)
    return sendContent(call, originalContent(call, resource))
  },
})

/** Returns the original file of a resource for a download, with its own MIME type unless another one is passed. */
function originalContent(
  { service, query }: QueryCall<z.infer<typeof downloadQuery>>,
  resource: ResourceRow,
  mimeType = resource.mimeType,
): SentContent {
  return {
    mimeType,
    sizeBytes: resource.sizeBytes,
    fileName: resource.title,
    disposition: query.disposition,
    sha256: resource.sha256,
    open: (range) => readContent(service.tables, service.files, resource, range),
  }
}

export const downloadAsset = endpoint({
  route: 'downloadAsset',
  summary: 'Stream the canonical payload of an asset',
  description: 'A text in UTF-8, or the file of a video.',
  takesSignedUrl: true,
  query: downloadQuery,
  responses: {
    200: { description: 'The text or the video', mediaType: '*/*', headers: CONTENT_HEADERS },
    ...OTHER_RESPONSES,
  },
  errors: [401, 403, 404, 416, 422],
  handle(call) {
    const asset = requireAsset(call)
    const { resource } = asset
    if (asset.kind === 'video') return sendContent(call, originalContent(call, resource, asset.mimeType))
    const { passage } = asset
    const mimeType = resource.textType
    const body = Buffer.from(passage.text)
    return sendContent(call, {
      mimeType: `${mimeType}; charset=utf-8`,
      sizeBytes: body.length,
      fileName: `${resource.title}.${passage.ordinal + 1}.${mimeType === 'text/markdown' ? 'md' : 'txt'}`,
      disposition: call.query.disposition,
      sha256: createHash('sha256').update(body).digest(),
      open: (range) => (range ? body.subarray(range.start, range.end + 1) : body),
    })
  },
})

const MAX_SECONDS = 999_999_999

/** A moment of a video in seconds, in a JSON body. */
const timestamp = z.number().min(0).max(MAX_SECONDS)

/** A moment of a video in seconds, in a query. */
const timestampInput = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,40})?(e-\d{1,3})?$/i, 'Must be a number of seconds from 0 on')
  .transform(Number)
  .meta({ type: 'number', minimum: 0 })

export const downloadScene = pictureEndpoint('scene', {
  route: 'downloadScene',
  summary: 'The five-frame collage of a scene of a video',
  description: [
    'Five frames from the beginning to the end of the scene, side by side. A new scene begins where the whole picture changes, and every',
    '30 seconds. A moment at which one scene ends and another begins belongs to the latter.',
  ].join(' '),
})

export const downloadFrame = pictureEndpoint('frame', {
  route: 'downloadFrame',
  summary: 'One frame of a video',
  description:
    'The picture that a player shows at this moment, in the size of the video. Moments are exact to the millisecond.',
})

function pictureEndpoint(
  kind: 'scene' | 'frame',
  spec: Pick<EndpointDescription, 'route' | 'summary' | 'description'>,
): Endpoint {
  return endpoint({
    ...spec,
    takesSignedUrl: true,
    query: downloadQuery.extend({ timestamp_seconds: timestampInput }),
    responses: {
      200: { description: 'The picture', mediaType: 'image/png', headers: CONTENT_HEADERS },
      ...OTHER_RESPONSES,
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

/** Returns a moment of a video. Throws 422 if the asset is not a video, or the video ends before this moment. */
function requireMoment(asset: Asset, seconds: number): VideoMoment {
  if (asset.kind !== 'video') throw invalid('asset', 'The asset is not a video')
  const { resource } = asset
  const durationSeconds = durationOf(resource) ?? Number.POSITIVE_INFINITY
  if (seconds >= durationSeconds) throw invalid('timestamp_seconds', `The video ends after ${durationSeconds} seconds`)
  return { resource, momentMs: Math.floor(seconds * 1_000), durationMs: Math.ceil(durationSeconds * 1_000) }
}

const terms = z.object({
  ttl_minutes: z.int().min(VIEW_URL_MINUTES.min).max(VIEW_URL_MINUTES.max).default(VIEW_URL_MINUTES.byDefault),
  disposition: z.enum(['inline', 'attachment']).default('inline'),
})

const assetTerms = terms.extend({
  representation: z.enum(REPRESENTATIONS).default('content'),
  timestamp_seconds: timestamp.optional(),
})

const PICTURE_ROUTES = { scene: 'downloadScene', frame: 'downloadFrame' } as const

export const createAssetViewUrl = endpoint({
  route: 'createAssetViewUrl',
  summary: 'Issue a signed URL for an asset',
  description:
    '`scene` and `frame` exist for videos and need `timestamp_seconds`, a moment before the end of the video.',
  body: z.preprocess((body) => body ?? {}, assetTerms),
  responses: { 200: { description: 'The signed URL', shape: exactAssetUrl } },
  errors: [401, 403, 404, 408, 413, 415, 422],
  handle(call) {
    const asset = requireAsset(call)
    const { representation, timestamp_seconds: seconds } = call.body
    const ids = { asset: call.id('asset') }
    if (representation === 'content') {
      if (seconds !== undefined) throw invalid('timestamp_seconds', 'Only a scene or a frame has a timestamp')
      return { ...issueUrl(call, ROUTES.downloadAsset.path, ids), representation }
    }
    if (seconds === undefined) throw invalid('timestamp_seconds', 'A scene or a frame needs a timestamp')
    const query = { timestamp_seconds: String(requireMoment(asset, seconds).momentMs / 1_000) }
    return { ...issueUrl(call, ROUTES[PICTURE_ROUTES[representation]].path, ids, query), representation }
  },
})

export const createResourceViewUrl = endpoint({
  route: 'createResourceViewUrl',
  summary: "Issue a signed URL for a resource's original file",
  description:
    '`ttl_minutes` is 1 to 60, 15 by default; `disposition` is `inline` by default. The body may be left out.',
  body: z.preprocess((body) => body ?? {}, terms),
  responses: { 200: { description: 'The signed URL', shape: exactResourceUrl } },
  errors: [401, 403, 404, 408, 413, 415, 422],
  handle(call) {
    requireResource(call)
    return issueUrl(call, ROUTES.downloadResource.path, { resource: call.id('resource') })
  },
})

/** Signs a URL for a path of `ids`. `query` holds further parameters of the URL. */
function issueUrl(
  call: Call<unknown, z.infer<typeof terms>>,
  path: string,
  ids: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
) {
  const { service, request } = call
  const { ttl_minutes: ttlMinutes, disposition } = call.body
  const target = fillPath(API_PREFIX + path, ids)
  const untilMs = service.clock.nowMs() + ttlMinutes * MINUTE_MS
  const url = originOf(service, request) + signedPath(service.signer, target, { ...query, disposition }, untilMs)
  return { url, expires_in_minutes: ttlMinutes }
}
