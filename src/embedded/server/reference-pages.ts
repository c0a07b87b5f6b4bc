import type { IncomingHttpHeaders } from 'node:http'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify, { type FastifyInstance } from 'fastify'
import { WITHOUT_COMPILERS } from '../http/describe-endpoint.ts'
import { TITLE } from './describe-service.ts'

/** The page may run its own scripts and ask its own server, nothing else; it needs no frame, form or plugin. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

export type ReferencePages = Awaited<ReturnType<typeof openReferencePages>>

/** The headers of a request that the plugin needs for one of its files. */
const CONDITIONS = ['if-none-match', 'if-modified-since', 'range']

/**
 * Prepares the reference of an OpenAPI document below the path `prefix`, by a server of its own that does not listen: plugins cannot
 * be added to one that does, and nobody should wait for these at the start.
 */
export async function openReferencePages(document: object, prefix: string) {
  const app = fastify({ exposeHeadRoutes: false, schemaController: WITHOUT_COMPILERS })
  await app.register(swagger, { openapi: {}, transformObject: () => document })
  await app.register(swaggerUi, {
    routePrefix: prefix,
    staticCSP: POLICY,
    theme: { title: TITLE },
    // Without the bar that would load the description of another server.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, displayOperationId: true, validatorUrl: null },
  })
  await app.ready()
  return {
    /** Answers a GET of a page or a file. */
    answer: (url: string, headers: IncomingHttpHeaders) => answer(app, url, headers),
    close: () => app.close(),
  }
}

async function answer(app: FastifyInstance, url: string, headers: IncomingHttpHeaders) {
  const conditions = Object.fromEntries(
    CONDITIONS.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])),
  )
  const { statusCode, headers: found, rawPayload } = await app.inject({ url, headers: conditions })
  const sent = Object.entries(found).filter(([name]) => !['connection', 'transfer-encoding', 'date'].includes(name))
  return {
    status: statusCode,
    headers: {
      ...Object.fromEntries(sent.map(([name, value]) => [name, String(value)])),
      'x-content-type-options': 'nosniff',
    },
    body: rawPayload,
  }
}
