import type { z } from 'zod'
import type { ResourceRow } from '../database/resources-table.ts'
import { type Asked, endpoint } from '../http/endpoint.ts'
import { requireResource } from '../http/require-access.ts'
import { CONTENT_HEADERS, downloadQuery, PARTIAL_ANSWERS, type SentContent, sendContent } from '../http/send-content.ts'
import { readContent } from '../storage/file-store.ts'

export const downloadResource = endpoint({
  route: 'downloadResource',
  summary: 'Download the original file',
  description: 'With the MIME type it was uploaded with and its original name. Takes the signed URLs of 4.16 as well.',
  takesSignedUrl: true,
  query: downloadQuery,
  answers: {
    200: { description: 'The bytes as uploaded', mediaType: '*/*', headers: CONTENT_HEADERS },
    ...PARTIAL_ANSWERS,
  },
  errors: [401, 403, 404, 416, 422],
  handle(call) {
    const resource = requireResource(call)
    return sendContent(call, originalContent(call, resource))
  },
})

/** The original file of a resource, under its own MIME type or another one. */
export function originalContent(
  { service, query }: Asked<z.infer<typeof downloadQuery>>,
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
