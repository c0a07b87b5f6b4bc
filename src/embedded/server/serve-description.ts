import type { FastifyInstance } from 'fastify'
import { OPENAPI_PATH } from '../../contract/routes.ts'
import { notFound } from '../http/api-error.ts'
import type { ReferencePages } from './reference-pages.ts'

export const DOCUMENTATION_PATH = '/api/documentation'

/**
 * Serves the machine-readable description and an interactive reference for people, both without a credential. Each is
 * loaded with the first request for it.
 */
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
      pages ??= import('./reference-pages.ts').then(async ({ openReferencePages }) =>
        openReferencePages(await describe(), DOCUMENTATION_PATH),
      )
      const { status, body, ...answer } = await (await pages).answer(url, headers)
      if (status === 404) throw notFound('Page')
      return reply.code(status).headers(answer.headers).send(body)
    })
  }
  app.addHook('onClose', async () => await (await pages)?.close())
}
