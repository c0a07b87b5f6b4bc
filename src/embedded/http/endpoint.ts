import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { API_PREFIX, ROUTES } from '../../contract/routes.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import type { Grant } from '../access/grant.ts'
import type { Service } from '../service.ts'
import { forbidden, unauthorized } from './api-error.ts'
import { authenticate } from './authenticate.ts'
import { describeEndpoint, type EndpointDescription } from './describe-endpoint.ts'
import { verifySignedUrl } from './signed-urls.ts'

/** Who asks for what, after authentication and validation. */
export interface Asked<Query> {
  readonly service: Service
  /** Undefined for a signed URL, which grants access to the one thing it names. */
  readonly grant: Grant | undefined
  /** The identifier in the path with this name. */
  readonly id: (name: string) => string
  readonly query: Query
}

/** One request after authentication and validation. */
export interface Call<Query, Body> extends Asked<Query> {
  readonly body: Body
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export interface EndpointSpec<Query, Body> extends EndpointDescription {
  /** The endpoint accepts signed URLs in place of a bearer credential (5.6). */
  readonly takesSignedUrl?: boolean
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** Returns the JSON body of the answer, its stream, or the reply it has sent. */
  handle(call: Call<Query, Body>): unknown
}

/** A route that can be added to a server. */
export interface Endpoint {
  register(app: FastifyInstance, service: Service): void
}

const parameters = z.record(z.string(), z.string())

/** Binds one route of the contract to its validation, description and handler; a GET answers HEAD as well. */
export function endpoint<Query = unknown, Body = unknown>(spec: EndpointSpec<Query, Body>): Endpoint {
  return {
    register(app, service) {
      const { method, path } = ROUTES[spec.route]
      const route = { ...handlersOf(spec, service), url: API_PREFIX + path.replace(/\{(\w+)\}/g, ':$1') }
      app.route({ ...route, method, schema: describeEndpoint(spec) })
      if (method === 'GET') app.route({ ...route, method: 'HEAD', schema: { hide: true } })
    },
  }
}

function handlersOf<Query, Body>(spec: EndpointSpec<Query, Body>, service: Service) {
  const grants = new WeakMap<FastifyRequest, Grant>()
  return {
    onRequest: (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
      const grant = admit(service, spec, request)
      if (grant) grants.set(request, grant)
      done()
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const ids = parameters.parse(request.params)
      return await spec.handle({
        service,
        grant: grants.get(request),
        id: (name) => ids[name] ?? '',
        query: parseWith(spec.query, request.query),
        body: parseWith(spec.body, request.body),
        request,
        reply,
      })
    },
  }
}

/** Throws 401 without a valid credential or signature, 403 when the token is not for this interface. */
function admit(service: Service, spec: { takesSignedUrl?: boolean }, request: FastifyRequest): Grant | undefined {
  const grant = authenticate(service, request)
  if (grant) {
    if (!grant.interfaces.includes('api')) throw forbidden('to use the interface "api"')
    return grant
  }
  if (!spec.takesSignedUrl) throw unauthorized('A credential is needed')
  verifySignedUrl(service.signer, request.url, service.clock.nowMs())
  return undefined
}

export function parseWith<T>(shape: z.ZodType<T> | undefined, value: unknown): T {
  return (shape ?? z.any()).parse(value, { error: describeIssue })
}
