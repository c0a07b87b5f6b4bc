import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ByteRange } from '../contents/seekable-zstd.ts'
import { titleOf } from '../storage/slug.ts'
import { ApiError } from './api-error.ts'
import type { Call } from './endpoint.ts'
import { integerText } from './inputs.ts'

/** The query of a download: `disposition` and the parameters of a signed URL. */
export const downloadQuery = z.object({
  disposition: z.enum(['inline', 'attachment']).default('inline'),
  signature: z.string().optional(),
  expires: integerText('Unix time at which the signed URL expires').optional(),
  tenant_id: integerText('Tenant that the signed URL names').optional(),
})

const ENTITY_TAG = { etag: { type: 'string' } } as const

/** The headers of a download, for OpenAPI. */
export const CONTENT_HEADERS = {
  ...ENTITY_TAG,
  'content-disposition': {
    type: 'string',
    description: 'The disposition that was asked for, and the name of the file',
  },
  'accept-ranges': { type: 'string', enum: ['bytes'] },
} as const

/** The responses of a download besides 200, for OpenAPI. */
export const OTHER_RESPONSES = {
  206: {
    description: 'The bytes that `Range` asks for',
    mediaType: '*/*',
    headers: { ...CONTENT_HEADERS, 'content-range': { type: 'string' } },
  },
  304: { description: '`If-None-Match` names the current `ETag`', headers: ENTITY_TAG },
} as const

export interface SentContent {
  readonly mimeType: string
  readonly sizeBytes: number
  readonly sha256: Buffer
  readonly fileName: string
  readonly disposition: 'inline' | 'attachment'
  /** Opens a part of the content; undefined means all of it. */
  open(range: ByteRange | undefined): Readable | Buffer
}

/**
 * Answers a GET or HEAD with uploaded bytes: 200, 206 for one byte range, 304 if the client has them already; throws 416. The headers
 * keep a browser from running code in the bytes.
 */
export function sendContent(
  { request, reply }: Pick<Call<unknown, unknown>, 'request' | 'reply'>,
  content: SentContent,
): FastifyReply {
  const { headers, method } = request
  const entityTag = `"${content.sha256.toString('hex')}"`
  const range = method === 'GET' ? requestedRange(headers, entityTag, content.sizeBytes) : undefined
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${content.sizeBytes}`)
    throw new ApiError(416, `The file has only ${content.sizeBytes} bytes`)
  }
  if (namesEntityTag(headers['if-none-match'], entityTag)) return reply.code(304).header('etag', entityTag).send()
  const body = method === 'HEAD' ? undefined : content.open(range)
  reply.headers({
    etag: entityTag,
    'accept-ranges': 'bytes',
    'content-type': content.mimeType,
    'content-length': range ? range.end - range.start + 1 : content.sizeBytes,
    'content-disposition': contentDisposition(content.disposition, content.fileName),
    'x-content-type-options': 'nosniff',
    'content-security-policy': RECORDING_TYPE.test(content.mimeType) ? RECORDING_POLICY : SANDBOX_POLICY,
  })
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${content.sizeBytes}`)
  return reply.send(body)
}

/** Returns the range that a request asks for; undefined if `If-Range` names another version of the content. */
function requestedRange(headers: FastifyRequest['headers'], entityTag: string, sizeBytes: number) {
  const { 'if-range': condition, range } = headers
  const isCurrent = condition === undefined || namesEntityTag(String(condition), entityTag)
  return isCurrent ? readRange(range, sizeBytes) : undefined
}

/** Lets a page use its own styles and pictures, but run no code and load nothing. */
const SANDBOX_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/** Allows no comma, because a browser uses the last of several types, and no `+`, because it shows `video/x+xml` as a document. */
const RECORDING_TYPE = /^(audio|video)\/[\w.-]+$/

/**
 * Lets a recording load itself: a browser plays it in a page that loads the same address, which a sandbox forbids. Without a sandbox,
 * `nosniff` keeps other bytes from becoming a page.
 */
const RECORDING_POLICY =
  "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Returns the header with an ASCII name for old clients and the exact name in UTF-8 (RFC 6266). */
function contentDisposition(disposition: string, fileName: string): string {
  const name = titleOf(fileName)
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${exact}`
}

/**
 * Reads the header `Range` of a request (RFC 9110, 14.1). Returns undefined, which means the whole content, if the header is missing or
 * malformed, names several ranges, or has another unit than bytes.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header?.replaceAll(/\s/g, '') ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  if (first === '') return lastBytes(Number(last), sizeBytes)
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Number(last)
  if (start >= sizeBytes) return 'unsatisfiable'
  return start <= end ? { start, end: Math.min(end, sizeBytes - 1) } : undefined
}

function lastBytes(count: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (count === 0 || sizeBytes === 0) return 'unsatisfiable'
  return { start: Math.max(0, sizeBytes - count), end: sizeBytes - 1 }
}

/** Returns whether a list of entity tags (`If-None-Match`, `If-Range`) contains this one, or `*`. */
export function namesEntityTag(header: string | undefined, entityTag: string): boolean {
  const named = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return named.includes(entityTag) || named.includes('*')
}
