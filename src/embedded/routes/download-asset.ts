import { createHash } from 'node:crypto'
import { endpoint } from '../http/endpoint.ts'
import { requireAsset } from '../http/require-access.ts'
import { CONTENT_HEADERS, downloadQuery, PARTIAL_ANSWERS, sendContent } from '../http/send-content.ts'
import { originalContent } from './download-resource.ts'

export const downloadAsset = endpoint({
  route: 'downloadAsset',
  summary: 'Stream the canonical payload of an asset',
  description: 'A text in UTF-8, or the file of a video.',
  takesSignedUrl: true,
  query: downloadQuery,
  answers: {
    200: { description: 'The text or the video', mediaType: '*/*', headers: CONTENT_HEADERS },
    ...PARTIAL_ANSWERS,
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
