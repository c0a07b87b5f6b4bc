import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ConnectionBound } from '../foundation/connection-bound.ts'
import { messageOf, systemCodeOf, UsageError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { hostNameOf, isLoopback } from '../foundation/loopback.ts'
import { escapeText } from '../foundation/text.ts'
import { answerHealth, type HealthView } from './health-answers.ts'

export interface HealthServerOptions {
  /** A loopback address, or `localhost`. */
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  readonly view: HealthView
  readonly logger: Logger
  readonly limits?: HealthLimits
}

interface HealthLimits {
  /** In bytes. */
  readonly maxHeaderSize: number
  /** In milliseconds, like those below: how long a client may take for its headers, and for all of its request. */
  readonly headersTimeout: number
  readonly requestTimeout: number
  /** How often that is looked at. */
  readonly connectionsCheckingInterval: number
}

export interface HealthServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:9847`. */
  readonly url: string
}

const LIMITS: HealthLimits = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
}
const MAX_CONNECTIONS = 32

/** Nothing may frame, sniff, keep or pass on what is answered. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * Answers GET and HEAD of `/healthz`, `/readyz` and `/metrics`, to this machine only.
 * Throws UsageError when `host` is not loopback or cannot be listened on.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { host, port, view, logger } = options
  const address = loopbackAddress(host)
  const bound = new ConnectionBound(MAX_CONNECTIONS)
  const server = createServer({ ...(options.limits ?? LIMITS) }, (request, response) => {
    bound.noteRequest(request.socket)
    answer(request, response, view).catch((error: unknown) => {
      logger.error('Cannot answer a request for health or metrics', { error: messageOf(error) })
      if (response.headersSent) response.destroy()
      else send(response, { status: 500, type: 'application/json', body: '{"status":"error"}\n' })
    })
  })
  server.on('connection', (socket) => bound.admit(socket))
  await listen(server, address, port)
  // An error of a later connection, such as too many open files, must not end the daemon.
  server.on('error', (error) => logger.warn('The health server had an error', { error: error.message }))
  return { url: urlOf(server), [Symbol.asyncDispose]: () => close(server) }
}

async function answer(request: IncomingMessage, response: ServerResponse, view: HealthView): Promise<void> {
  // A page whose name was made to resolve to this machine sends that name: no other may read what is answered.
  if (!isLoopback(hostNameOf(request.headers.host)))
    return send(response, { status: 403, ...refusal('not a local host') })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return send(response, { status: 405, ...refusal('only GET and HEAD') })
  }
  const [path = ''] = (request.url ?? '').split('?')
  send(response, (await answerHealth(path, view)) ?? { status: 404, ...refusal('not found') })
}

function refusal(error: string): { type: string; body: string } {
  return { type: 'application/json', body: `${JSON.stringify({ error })}\n` }
}

function send(response: ServerResponse, { status, type, body }: { status: number; type: string; body: string }): void {
  const length = Buffer.byteLength(body)
  response.shouldKeepAlive = false
  response.writeHead(status, { ...SECURITY_HEADERS, 'content-type': type, 'content-length': length }).end(body)
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    const code = systemCodeOf(error) ?? messageOf(error)
    const why = code === 'EADDRINUSE' ? 'another program listens there' : code
    const text = `Cannot answer health and metrics on ${bracketed(host)}:${port}: ${why}`
    throw new UsageError('bad-configuration', `${text}; set health.listen to another loopback address, or to none`, {
      cause: error,
    })
  }
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

function loopbackAddress(host: string): string {
  if (!isLoopback(host)) {
    const text = `Cannot answer health and metrics on "${escapeText(host)}": it is not an address of this machine alone`
    throw new UsageError('bad-configuration', `${text}; set health.listen to one such as 127.0.0.1:9847`)
  }
  // What this name resolves to is for others to say.
  return host === 'localhost' ? '127.0.0.1' : host
}

function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has an address and a port')
  return `http://${bracketed(address.address)}:${address.port}`
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
