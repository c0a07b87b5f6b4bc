import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import { RequestError } from '../errors.ts'
import { describeIssue } from '../text/describe-issue.ts'
import { terminalSafeJson } from '../text/safe-text.ts'

export interface RouteRequest {
  readonly input: unknown
  readonly headers: IncomingHttpHeaders
  /** Aborted when the client closes the connection before it has the whole answer. */
  readonly signal: AbortSignal
}

export interface HttpResponse {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

export interface LineWriter {
  write(value: unknown): void
  /** Written bytes that the client has not received yet. */
  readonly unreadBytes: number
}

/** Server-sent events, which end when the promise resolves. */
export interface StreamedResponse {
  stream(lines: LineWriter): Promise<void>
}

type RouteResponse = HttpResponse | StreamedResponse
export type Route = (request: RouteRequest) => RouteResponse | Promise<RouteResponse>

/** HEAD uses the route of GET. */
export type Routes = Readonly<Record<`${'GET' | 'POST'} /${string}`, Route>>

export type FoundRoute =
  | { readonly kind: 'found'; readonly route: Route }
  | { readonly kind: 'missing' }
  /** The path has routes for other methods only. */
  | { readonly kind: 'other-method'; readonly allow: string }

export function findRoute(routes: Routes, method: string, path: string): FoundRoute {
  const table = Object.entries(routes)
  const asked = `${method === 'HEAD' ? 'GET' : method} ${path}`
  const route = table.find(([name]) => name === asked)?.[1]
  if (route) return { kind: 'found', route }
  const methods = table.map(([name]) => name.split(' ')).filter(([, known]) => known === path)
  const allow = methods.map(([known]) => (known === 'GET' ? 'GET, HEAD' : known)).join(', ')
  return allow === '' ? { kind: 'missing' } : { kind: 'other-method', allow }
}

/** Returns JSON that is safe on a terminal, or status 204 for `undefined`. */
export function jsonResponse(status: number, value: unknown): HttpResponse {
  if (value === undefined) return { status: 204, headers: {}, body: '' }
  return { status, headers: { 'content-type': 'application/json' }, body: `${terminalSafeJson(value)}\n` }
}

/** Returns the input if it has the shape; otherwise throws RequestError `invalid`. */
export function parseInput<T>(shape: z.ZodType<T>, input: unknown): T {
  const { success, data, error } = shape.safeParse(input, { error: describeIssue })
  if (success) return data
  const [issue] = error.issues
  throw new RequestError(
    'invalid',
    `Cannot read the request: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(' ')}`,
    400,
  )
}
