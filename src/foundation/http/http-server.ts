import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import { InterruptedError, RequestError } from '../errors.ts'
import { ConnectionBound } from '../network/connection-bound.ts'
import { terminalSafeJson } from '../text/safe-text.ts'
import { type Fault, faultOf, httpStatusOf } from './fault.ts'
import { createServer } from './node-http.ts'
import {
  findRoute,
  type HttpResponse,
  jsonResponse,
  type Route,
  type RouteRequest,
  type Routes,
  type StreamedResponse,
} from './route.ts'

export interface RequestLimits {
  readonly maxHeaderSize: number
  /** How long a client may take to send its headers, and its whole request. All times are milliseconds. */
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly connectionsCheckingInterval: number
}

interface HttpServerOptions {
  readonly routes: Routes
  readonly maxConnections: number
  readonly limits?: RequestLimits | undefined
  checkHeaders?(headers: IncomingMessage['headers']): void
  /** Returns the error for a path without a route; `not-found` by default. */
  missing?(asked: string): Error
  onError(error: unknown): Fault
}

/** A socket, or a port of this machine; port 0 is any free port. */
type ListenAddress = { readonly path: string } | { readonly host: string; readonly port: number }

interface HttpServer {
  /** Returns the origin of a port, such as `http://127.0.0.1:9847`. Later errors go to `onError` and do not end the process. */
  listen(at: ListenAddress, onError: (error: Error) => void): Promise<string>
  /** Resolves when every request so far is answered, even if the client has not read the answer. */
  answered(): Promise<void>
  /** Closes the server after clients had up to `graceMs` to read their answers. */
  close(graceMs: number): Promise<void>
}

const LIMITS: RequestLimits = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
}

/** Browsers must not frame, sniff, cache or share the answers. */
const SECURITY_HEADERS: OutgoingHttpHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Answers one request per connection, with limits on connections, bytes and time. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const bound = new ConnectionBound(options.maxConnections)
  const [answering, reading] = [new Set<Promise<void>>(), new Set<Promise<void>>()]
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
    try {
      options.checkHeaders?.(request.headers)
      const route = routeOf(request, response, options)
      if (!route) return
      const input = await readInput(request)
      bound.markBusy(request.socket)
      track(reading, new Promise((resolve) => response.once('close', resolve)))
      await track(answering, answer(route, { input, headers: request.headers }, response))
    } catch (error) {
      const body = options.onError(error)
      if (response.headersSent) response.destroy()
      else send(response, jsonResponse(httpStatusOf(error), { error: body }))
    }
  }
  const server = createServer({ ...(options.limits ?? LIMITS) }, (request, response) => void serve(request, response))
  server.on('connection', (socket) => bound.admit(socket))
  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  return {
    listen: async (at, onError) => {
      server.listen(at)
      await once(server, 'listening')
      server.on('error', onError)
      return originOf(server)
    },
    answered: async () => void (await Promise.allSettled(answering)),
    close: async (graceMs) => {
      // Closing the server would cut off answers that are not yet sent.
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, graceMs)
      await Promise.race([Promise.all(reading), late.promise])
      clearTimeout(timer)
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function originOf(server: Server): string {
  const found = server.address()
  if (found === null || typeof found === 'string') return ''
  return `http://${found.family === 'IPv6' ? `[${found.address}]` : found.address}:${found.port}`
}

function track(others: Set<Promise<void>>, work: Promise<void>): Promise<void> {
  others.add(work)
  return work.finally(() => others.delete(work))
}

/** Answers with the error and returns undefined if there is no route. */
function routeOf(request: IncomingMessage, response: ServerResponse, options: HttpServerOptions): Route | undefined {
  const { method = '', url = '' } = request
  const [path = ''] = url.split('?', 1)
  const found = findRoute(options.routes, method, path)
  if (found.kind === 'found') return found.route
  const missing = options.missing ?? ((asked) => new RequestError('not-found', `There is no ${asked}`, 404))
  const error = faultOf(missing(`${method} ${path}`))
  if (found.kind === 'other-method') response.setHeader('allow', found.allow)
  send(response, jsonResponse(found.kind === 'other-method' ? 405 : 404, { error }))
  return undefined
}

async function answer(route: Route, request: Omit<RouteRequest, 'signal'>, response: ServerResponse): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new InterruptedError('The client went away'))
  })
  const reply = await route({ ...request, signal: gone.signal })
  if ('stream' in reply) await sendStream(response, reply)
  else send(response, reply)
}

function send(response: ServerResponse, { status, headers, body }: HttpResponse): void {
  const length = { 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...(status === 204 ? {} : length) }).end(body)
}

async function sendStream(response: ServerResponse, { stream }: StreamedResponse): Promise<void> {
  response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream' })
  await stream({
    write: (value) => void response.write(`data: ${terminalSafeJson(value)}\n\n`),
    get unreadBytes() {
      return response.writableLength
    },
  })
  response.end()
}

export const MAX_BODY_BYTES = 1024 * 1024

/** Returns the parsed body; `{}` for an empty body and for GET. Throws RequestError `too-large` or `invalid`. */
async function readInput(request: IncomingMessage): Promise<unknown> {
  const body = request.method === 'POST' ? await readBody(request) : ''
  try {
    return body === '' ? {} : JSON.parse(body)
  } catch {
    throw new RequestError('invalid', 'The body of the request is not JSON', 400)
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_BODY_BYTES)
      throw new RequestError('too-large', `The body of the request has more than ${MAX_BODY_BYTES} bytes`, 413)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
