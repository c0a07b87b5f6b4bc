import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, notFound } from '../http/api-error.ts'
import { namesEntityTag } from '../http/byte-range.ts'
import { loadPageFiles, type PageFile } from './page-files.ts'

/** Where a browser finds the page of the library. */
export const PAGE_PATH = '/'

/** Scripts, style sheets and icons of pages lie below it. */
export const PAGE_FILES_PATH = '/web'

/** The page runs its own script and talks to its own server, which also gives it pictures and recordings; nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Serves the page of the library, which needs no credential: it asks its reader for one. It is loaded with the first request. */
export function servePage(app: FastifyInstance): void {
  const options = { schema: { hide: true }, exposeHeadRoute: true }
  app.get(PAGE_PATH, options, async (request, reply) => {
    reply.header('vary', 'accept')
    // A program that asks here has mistaken the address; it gets an error that it can read.
    if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw new ApiError(404, `There is no ${request.method} /`)
    return send(request, reply, 'library.html', 'no-cache')
  })
  app.get<{ Params: { name: string } }>(`${PAGE_FILES_PATH}/:name`, options, async (request, reply) => {
    const { name } = request.params
    if (name.endsWith('.html')) throw notFound('Page')
    return send(request, reply, name, 'public, max-age=31536000, immutable')
  })
}

async function send(request: FastifyRequest, reply: FastifyReply, name: string, caching: string) {
  const file: PageFile | undefined = (await loadPageFiles()).get(name)
  if (!file) throw notFound('Page')
  reply.headers({ ...HEADERS, etag: file.entityTag, 'cache-control': caching })
  if (namesEntityTag(request.headers['if-none-match'], file.entityTag)) return reply.code(304).send()
  return reply.type(MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream').send(file.body)
}
