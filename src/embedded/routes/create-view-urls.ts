import { z } from 'zod'
import { API_PREFIX, fillPath, ROUTES } from '../../contract/routes.ts'
import { invalid } from '../http/api-error.ts'
import { type Call, endpoint, originOf } from '../http/endpoint.ts'
import { exactAssetUrl, exactResourceUrl, REPRESENTATIONS } from '../http/exact-records.ts'
import { requireAsset, requireResource } from '../http/require-access.ts'
import { signedUrl, VIEW_URL_MINUTES } from '../http/signing.ts'
import { requireMoment, timestamp } from './video-representations.ts'

const terms = z.object({
  ttl_minutes: z.int().min(VIEW_URL_MINUTES.min).max(VIEW_URL_MINUTES.max).default(VIEW_URL_MINUTES.byDefault),
  disposition: z.enum(['inline', 'attachment']).default('inline'),
})

const assetTerms = terms.extend({
  representation: z.enum(REPRESENTATIONS).default('content'),
  timestamp_seconds: timestamp.optional(),
})

const PICTURES = { scene: 'downloadScene', frame: 'downloadFrame' } as const

export const createAssetViewUrl = endpoint({
  route: 'createAssetViewUrl',
  summary: 'Issue a signed URL for an asset',
  description: '`scene` and `frame` are of videos, at a moment before their end; it is signed in milliseconds.',
  body: z.preprocess((body) => body ?? {}, assetTerms),
  answers: { 200: { description: 'The signed URL', shape: exactAssetUrl } },
  errors: [401, 403, 404, 408, 413, 415, 422],
  handle(call) {
    const asset = requireAsset(call)
    const { representation, timestamp_seconds: seconds } = call.body
    const ids = { asset: call.id('asset') }
    if (representation === 'content') {
      if (seconds !== undefined) throw invalid('timestamp_seconds', 'Not for content')
      return { ...issueUrl(call, ROUTES.downloadAsset.path, ids), representation }
    }
    if (seconds === undefined) throw invalid('timestamp_seconds', 'Needed for a scene or a frame')
    const query = { timestamp_seconds: String(requireMoment(asset, seconds).momentMs / 1_000) }
    return { ...issueUrl(call, ROUTES[PICTURES[representation]].path, ids, query), representation }
  },
})

export const createResourceViewUrl = endpoint({
  route: 'createResourceViewUrl',
  summary: "Issue a signed URL for a resource's original file",
  description:
    '`ttl_minutes` is 1 to 60, 15 by default; `disposition` is `inline` by default. The body may be left out.',
  body: z.preprocess((body) => body ?? {}, terms),
  answers: { 200: { description: 'The signed URL', shape: exactResourceUrl } },
  errors: [401, 403, 404, 408, 413, 415, 422],
  handle(call) {
    requireResource(call)
    return issueUrl(call, ROUTES.downloadResource.path, { resource: call.id('resource') })
  },
})

/** `query` holds parameters of the target, which are signed too. */
function issueUrl(
  call: Call<unknown, z.infer<typeof terms>>,
  path: string,
  ids: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
) {
  const { service, request } = call
  const { ttl_minutes: ttlMinutes, disposition } = call.body
  const target = fillPath(API_PREFIX + path, ids)
  const url = signedUrl(
    service.signer,
    originOf(service, request),
    target,
    { ttlMinutes, disposition, query },
    service.clock.nowMs(),
  )
  return { url, expires_in_minutes: ttlMinutes }
}
