import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { API_PREFIX, ROUTES } from '../../contract/routes.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import { type Grant, readGrant } from '../access/grant.ts'
import type { Service } from '../service-parts.ts'
import { forbidden, unauthorized } from './api-error.ts'
import { describeEndpoint, type EndpointDescription } from './describe-endpoint.ts'
import { verifySignedUrl } from './signing.ts'

/** The rights of a caller, and the identifiers in the path of its request. */
export interface RequestContext {
  readonly service: Service
  /** Undefined for a signed URL, which grants access only to what it names. */
  readonly grant: Grant | undefined
  /** Returns the identifier in the path under this name; empty if there is none. */
  readonly id: (name: string) => string
}

/** A request without its body. Handlers get it after authentication and validation. */
export interface QueryCall<Query> extends RequestContext {
  readonly query: Query
}

/** A request over HTTP, after authentication and validation. */
export interface Call<Query, Body> extends QueryCall<Query> {
  readonly body: Body
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

interface EndpointSpec<Query, Body> extends EndpointDescription {
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** Returns the body of the response as JSON or as a stream, or the reply after sending it. */
  handle(call: Call<Query, Body>): unknown
}

/** A route that can be added to a server. */
export interface Endpoint {
  register(app: FastifyInstance, service: Service): void
  /** Adds the route with only its description to a server that never listens. */
  describe(app: FastifyInstance): void
}

const parameters = z.record(z.string(), z.string())

/** Binds one route of the contract to its validation, description and handler; a GET route also answers HEAD. */
export function endpoint<Query = unknown, Body = unknown>(spec: EndpointSpec<Query, Body>): Endpoint {
  const { method, path } = ROUTES[spec.route]
  const url = API_PREFIX + path.replace(/\{(\w+)\}/g, ':$1')
  return {
    register(app, service) {
      app.route({ ...handlersOf(spec, service), url, method: method === 'GET' ? ['GET', 'HEAD'] : method })
    },
    describe: (app) => void app.route({ url, method, schema: describeEndpoint(spec), handler: () => {} }),
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

/** Returns the grant of a token, undefined for a signed URL. Throws 401 if neither is valid, 403 if the token is not for this interface. */
function admit(service: Service, spec: { takesSignedUrl?: boolean }, request: FastifyRequest): Grant | undefined {
  const { authorization } = request.headers
  if (authorization !== undefined || !spec.takesSignedUrl) return admitToken(service, authorization)
  verifySignedUrl(service.signer, request.url, service.clock.nowMs())
  return undefined
}

/** Returns the grant of a token. Throws 401 if the token is missing or not valid, 403 if it is not for this interface. */
export function admitToken(service: Service, authorization: string | undefined): Grant {
  const grant = authenticate(service, authorization)
  if (!grant) throw unauthorized('A credential is needed')
  if (!grant.interfaces.includes('api')) throw forbidden('to use the interface "api"')
  return grant
}

function parseWith<T>(shape: z.ZodType<T> | undefined, value: unknown): T {
  return (shape ?? z.any()).parse(value, { error: describeIssue })
}

/** A GET endpoint that can also be called without HTTP. */
export interface QueryEndpoint extends Endpoint {
  /** Returns the JSON body for a query, with the validation and the rights of an HTTP request; throws ApiError or ZodError. */
  answer(call: QueryCall<unknown>): Promise<unknown>
}

type QueryEndpointSpec<Query> = Omit<EndpointSpec<Query, unknown>, 'handle' | 'body'> & {
  handle(call: QueryCall<Query>): unknown
}

/** Builds an endpoint that HTTP clients and the tools for agents share. */
export function queryEndpoint<Query = unknown>(spec: QueryEndpointSpec<Query>): QueryEndpoint {
  return {
    ...endpoint(spec),
    async answer(call) {
      return await spec.handle({ ...call, query: parseWith(spec.query, call.query) })
    },
  }
}

const EXPLANATIONS = {
  unknown: 'The credential is not valid',
  revoked: 'The credential has been revoked',
  expired: 'The credential has expired',
} as const

/** Returns the grant of a bearer token in an `Authorization` header, undefined without the header. Throws 401 for an invalid token. */
export function authenticate(service: Service, header: string | undefined): Grant | undefined {
  if (header === undefined) return undefined
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  const grant = token === undefined ? 'unknown' : readGrant(service.tables, token, service.clock.nowMs())
  if (typeof grant === 'string') throw unauthorized(EXPLANATIONS[grant])
  return grant
}

/** Returns the origin of absolute URLs in responses: the public URL if one is set, otherwise the address that the request names. */
export function originOf({ publicUrl }: Pick<Service, 'publicUrl'>, request: FastifyRequest): string {
  if (publicUrl !== undefined) return publicUrl
  const { localAddress, localPort } = request.socket
  const host = request.host || `${localAddress?.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  return `http://${host}`
}
