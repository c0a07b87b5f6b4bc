import { z } from 'zod'
import { viewUrl } from '../../contract/records.ts'
import { API_PREFIX, fillPath, ROUTES } from '../../contract/routes.ts'
import { invalid } from '../http/api-error.ts'
import { type Call, endpoint } from '../http/endpoint.ts'
import { originOf } from '../http/origin.ts'
import { requireAsset, requireResource } from '../http/require-access.ts'
import { signedUrl, VIEW_URL_MINUTES } from '../http/signed-urls.ts'

const terms = z.object({
  ttl_minutes: z.int().min(VIEW_URL_MINUTES.min).max(VIEW_URL_MINUTES.max).default(VIEW_URL_MINUTES.byDefault),
  disposition: z.enum(['inline', 'attachment']).default('inline'),
})

const assetTerms = terms.extend({
  representation: z.enum(['content', 'scene', 'frame']).default('content'),
  timestamp_seconds: z.number().min(0).optional(),
})

const ANSWERS = { 200: { description: 'The signed URL', shape: viewUrl } }

/** 4.5 */
export const createAssetViewUrl = endpoint({
  route: 'createAssetViewUrl',
  section: '4.5',
  summary: 'Issue a signed URL for an asset',
  description: 'Every asset of this instance is a text: only the representation `content` is available.',
  body: z.preprocess((body) => body ?? {}, assetTerms),
  answers: ANSWERS,
  errors: [401, 403, 404, 415, 422],
  handle(call) {
    requireAsset(call)
    const { representation, timestamp_seconds: timestamp } = call.body
    if (representation === 'content' && timestamp !== undefined) throw invalid('timestamp_seconds', 'Not for content')
    if (representation !== 'content') throw explainMissing(timestamp)
    return { ...issueUrl(call, ROUTES.downloadAsset.path, { asset: call.id('asset') }), representation }
  },
})

/** 4.16 */
export const createResourceViewUrl = endpoint({
  route: 'createResourceViewUrl',
  section: '4.16',
  summary: "Issue a signed URL for a resource's original file",
  description:
    '`ttl_minutes` is 1 to 60, 15 by default; `disposition` is `inline` by default. The body may be left out.',
  body: z.preprocess((body) => body ?? {}, terms),
  answers: ANSWERS,
  errors: [401, 403, 404, 415, 422],
  handle(call) {
    requireResource(call)
    return issueUrl(call, ROUTES.downloadResource.path, { resource: call.id('resource') })
  },
})

function explainMissing(timestamp: number | undefined) {
  if (timestamp === undefined) return invalid('timestamp_seconds', 'Needed for a scene or a frame')
  return invalid('representation', 'The asset is not a video')
}

function issueUrl(call: Call<unknown, z.infer<typeof terms>>, path: string, ids: Readonly<Record<string, string>>) {
  const { service, request } = call
  const { ttl_minutes: ttlMinutes, disposition } = call.body
  const target = fillPath(API_PREFIX + path, ids)
  const url = signedUrl(
    service.signer,
    originOf(service, request),
    target,
    { ttlMinutes, disposition },
    service.clock.nowMs(),
  )
  return { url, expires_in_minutes: ttlMinutes }
}
