import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  cachingOf,
  loadPageFiles,
  mediaTypeOf,
  NOT_BUILT,
  PAGE_FILES_PATH,
  PAGE_HEADERS,
  type PageFiles,
} from '../../foundation/http/page-files.ts'
import { ApiError, notFound } from '../http/api-error.ts'
import { namesEntityTag } from '../http/send-content.ts'

/** The path at which a browser finds the page of the library. */
export const PAGE_PATH = '/'

/** Serves the page without a credential, because the page asks its user for one. Its files are loaded with the first request. */
export function servePage(app: FastifyInstance, program: string): void {
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string) =>
    sendFile(request, reply, { name, files: await loadPageFiles(program) })
  const options = { exposeHeadRoute: true }
  app.get(PAGE_PATH, options, async (request, reply) => {
    reply.header('vary', 'accept')
    // A program that asks here has mistaken the address; it gets an error that it can read.
    if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw new ApiError(404, `There is no ${request.method} /`)
    return send(request, reply, 'library.html')
  })
  app.get<{ Params: { name: string } }>(`${PAGE_FILES_PATH}/:name`, options, async (request, reply) => {
    const { name } = request.params
    if (name.endsWith('.html')) throw notFound('Page')
    return send(request, reply, name)
  })
}

interface Wanted {
  readonly name: string
  readonly files: PageFiles | undefined
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { name, files }: Wanted) {
  if (!files) throw new ApiError(503, NOT_BUILT)
  const file = files.get(name)
  if (!file) throw notFound('Page')
  reply.headers({ ...PAGE_HEADERS, etag: file.entityTag, 'cache-control': cachingOf(name) })
  if (namesEntityTag(request.headers['if-none-match'], file.entityTag)) return reply.code(304).send()
  return reply.type(mediaTypeOf(name)).send(file.body)
}
