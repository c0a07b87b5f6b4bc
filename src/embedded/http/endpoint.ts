import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { API_PREFIX, ROUTES } from '../../contract/routes.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import { type Grant, readGrant } from '../access/grant.ts'
import type { Service } from '../service-parts.ts'
import { forbidden, unauthorized } from './api-error.ts'
import { describeEndpoint, type EndpointDescription } from './describe-endpoint.ts'
import { verifySignedUrl } from './signing.ts'

/** A request's caller, path and query, after authentication and validation. */
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

interface EndpointSpec<Query, Body> extends EndpointDescription {
  /** The endpoint accepts signed URLs in place of a bearer credential. */
  readonly takesSignedUrl?: boolean
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** Returns the JSON body of the answer, its stream, or the reply it has sent. */
  handle(call: Call<Query, Body>): unknown
}

/** A route that can be added to a server. */
export interface Endpoint {
  register(app: FastifyInstance, service: Service): void
  /** Adds the route with its description alone, to a server that answers nothing. */
  describe(app: FastifyInstance): void
}

const parameters = z.record(z.string(), z.string())

/** Binds one route of the contract to its validation, description and handler; a GET answers HEAD as well. */
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

/** Throws 401 without a valid credential or signature, 403 when the token is not for this interface. */
function admit(service: Service, spec: { takesSignedUrl?: boolean }, request: FastifyRequest): Grant | undefined {
  const { authorization } = request.headers
  if (authorization !== undefined || !spec.takesSignedUrl) return admitToken(service, authorization)
  verifySignedUrl(service.signer, request.url, service.clock.nowMs())
  return undefined
}

/** Throws 401 without a valid credential, 403 when the token is not for this interface. */
export function admitToken(service: Service, authorization: string | undefined): Grant {
  const grant = authenticate(service, authorization)
  if (!grant) throw unauthorized('A credential is needed')
  if (!grant.interfaces.includes('api')) throw forbidden('to use the interface "api"')
  return grant
}

function parseWith<T>(shape: z.ZodType<T> | undefined, value: unknown): T {
  return (shape ?? z.any()).parse(value, { error: describeIssue })
}

/** A caller and a query that did not come in a request. */
interface Asking {
  readonly service: Service
  readonly grant: Grant
  /** The identifiers that a path would hold, by name. */
  readonly ids?: Readonly<Record<string, string>>
  /** The parameters as a query would hold them. */
  readonly query?: unknown
}

/** An endpoint that answers with JSON and reads nothing else of the request: it can be asked without one. */
export interface Question extends Endpoint {
  /** Answers with the same validation and the same rights as a request; throws ApiError or ZodError. */
  ask(asking: Asking): Promise<unknown>
}

type QuestionSpec<Query> = Omit<EndpointSpec<Query, unknown>, 'handle' | 'body'> & {
  handle(asked: Asked<Query>): unknown
}

/** Like `endpoint`, for a route that agents use as well. */
export function question<Query = unknown>(spec: QuestionSpec<Query>): Question {
  return {
    ...endpoint(spec),
    async ask({ service, grant, ids = {}, query = {} }) {
      return await spec.handle({ service, grant, id: (name) => ids[name] ?? '', query: parseWith(spec.query, query) })
    },
  }
}

const EXPLANATIONS = {
  unknown: 'The credential is not valid',
  revoked: 'The credential has been revoked',
  expired: 'The credential has expired',
} as const

/** Returns the grant of a request's bearer token, undefined when it has no such header. Throws 401 for an invalid token. */
export function authenticate(service: Service, header: string | undefined): Grant | undefined {
  if (header === undefined) return undefined
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  const grant = token === undefined ? 'unknown' : readGrant(service.tables, token, service.clock.nowMs())
  if (typeof grant === 'string') throw unauthorized(EXPLANATIONS[grant])
  return grant
}

/** The origin of the absolute URLs in answers: the public URL if one is set, otherwise where this request came in. */
export function originOf({ publicUrl }: Pick<Service, 'publicUrl'>, request: FastifyRequest): string {
  if (publicUrl !== undefined) return publicUrl
  const { localAddress, localPort } = request.socket
  const host = request.host || `${localAddress?.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  return `http://${host}`
}
