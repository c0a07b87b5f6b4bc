import { endpoint } from '../../http/endpoint.ts'
import { requireResource } from '../../http/require-access.ts'
import { downloadQuery, PARTIAL_ANSWERS, sendContent } from '../../http/send-content.ts'
import { readContent } from '../../storage/read-content.ts'

/** 4.15 */
export const downloadResource = endpoint({
  route: 'downloadResource',
  section: '4.15',
  summary: 'Download the original file',
  description: 'With the MIME type it was uploaded with and its original name. Takes the signed URLs of 4.16 as well.',
  takesSignedUrl: true,
  query: downloadQuery,
  answers: { 200: { description: 'The bytes as uploaded', mediaType: '*/*' }, ...PARTIAL_ANSWERS },
  errors: [401, 403, 404, 416, 422],
  handle(call) {
    const resource = requireResource(call)
    return sendContent(call, {
      mimeType: resource.mimeType,
      sizeBytes: resource.sizeBytes,
      fileName: resource.title,
      disposition: call.query.disposition,
      sha256: resource.sha256,
      open: (range) => readContent(call.service.tables, call.service.files, resource, range),
    })
  },
})
