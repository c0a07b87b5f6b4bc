import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'

/** The query of a download (4.2): `disposition` and the parameters of a signed URL. */
export const downloadQuery = z.object({
  disposition: z.enum(['inline', 'attachment']).default('inline'),
  signature: z.string().optional(),
  expires: z.string().optional(),
  tenant_id: z.string().optional(),
})

export interface SentContent {
  readonly mimeType: string
  readonly sizeBytes: number
  readonly fileName: string
  readonly disposition: 'inline' | 'attachment'
  readonly body: Readable | Buffer
}

/** Answers with uploaded bytes, with headers that keep a browser from running any code in them. */
export function sendContent(reply: FastifyReply, content: SentContent): FastifyReply {
  return reply
    .header('content-type', content.mimeType)
    .header('content-length', content.sizeBytes)
    .header('content-disposition', contentDisposition(content.disposition, content.fileName))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', 'sandbox')
    .send(content.body)
}

/** RFC 6266: a plain name for old clients and the exact one in UTF-8. */
function contentDisposition(disposition: string, fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(fileName).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${exact}`
}
