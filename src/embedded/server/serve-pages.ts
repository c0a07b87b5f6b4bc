import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { OPENAPI_PATH } from '../../contract/routes.ts'
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
import type { ReferencePages } from './describe-service.ts'

/** The path of the library's web page. */
export const PAGE_PATH = '/'

/** Serves the page without a credential, because the page itself asks its user for one. Its files are loaded with the first request. */
export function servePage(app: FastifyInstance, program: string): void {
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string) =>
    sendFile(request, reply, name, await loadPageFiles(program))
  const options = { exposeHeadRoute: true }
  app.get(PAGE_PATH, options, async (request, reply) => {
    reply.header('vary', 'accept')
    // A client that does not ask for HTML is a program with a wrong address, so it gets a JSON error.
    if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw new ApiError(404, `There is no ${request.method} /`)
    return send(request, reply, 'library.html')
  })
  app.get<{ Params: { name: string } }>(`${PAGE_FILES_PATH}/:name`, options, async (request, reply) => {
    const { name } = request.params
    if (name.endsWith('.html')) throw notFound('Page')
    return send(request, reply, name)
  })
}

function sendFile(request: FastifyRequest, reply: FastifyReply, name: string, files: PageFiles | undefined) {
  if (!files) throw new ApiError(503, NOT_BUILT)
  const file = files.get(name)
  if (!file) throw notFound('Page')
  reply.headers({ ...PAGE_HEADERS, etag: file.entityTag, 'cache-control': cachingOf(name) })
  if (namesEntityTag(request.headers['if-none-match'], file.entityTag)) return reply.code(304).send()
  return reply.type(mediaTypeOf(name)).send(file.body)
}

export const DOCUMENTATION_PATH = '/api/documentation'

/** Serves the OpenAPI description and an interactive reference, both without a credential, and made at the first request. */
export function serveDescription(app: FastifyInstance): void {
  const [descriptionPath = '/docs'] = OPENAPI_PATH.split('?')
  const options = { exposeHeadRoute: true }
  let description: Promise<object> | undefined
  const describe = () => {
    description ??= import('./describe-service.ts').then(({ describeService }) => describeService())
    return description
  }
  app.get(descriptionPath, options, async (_request, reply) => reply.send(await describe()))
  let pages: Promise<ReferencePages> | undefined
  for (const path of [DOCUMENTATION_PATH, `${DOCUMENTATION_PATH}/*`]) {
    app.get(path, options, async ({ url, headers }, reply) => {
      pages ??= import('./describe-service.ts').then(async ({ openReferencePages }) =>
        openReferencePages(await describe(), DOCUMENTATION_PATH),
      )
      const { status, body, ...answer } = await (await pages).answer(url, headers)
      if (status === 404) throw notFound('Page')
      return reply.code(status).headers(answer.headers).send(body)
    })
  }
  app.addHook('onClose', async () => await (await pages)?.close())
}
