import type { Socket } from 'node:net'
import { type Dispatcher, Pool } from 'undici'
import type { Clock, Random } from '../../foundation/clock.ts'
import { AccessError, DoubtError, ShelfdError } from '../../foundation/errors.ts'
import { createRedaction } from '../../foundation/text/redaction.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { type ClientOptions, DEFAULT_TIMEOUTS } from '../client-options.ts'
import { addressOf } from './addresses.ts'
import { malformed } from './answer-or-refusal.ts'
import { createConnector } from './connector.ts'
import { Exchange } from './exchange.ts'
import { openMultipart, type Payload, UploadBuffers } from './multipart.ts'
import { type Connections, PortDispatcher } from './port-dispatcher.ts'
import type { RequestBody, Send, ServiceRequest, ServiceResponse } from './request.ts'
import { cannot, interruptIfAborted, TransientFailure } from './transient-failure.ts'

const MIN_SECRET_LENGTH = 12

/** An answer may take 1 s longer for each MiB of the body; in whole seconds, because Node groups timers of the same length. */
const DIGEST_BYTES_PER_SECOND = 1 << 20

export interface Transport {
  readonly send: Send
  /** Waits for requests in flight, then closes the sockets. */
  close(): Promise<void>
  /** Aborts requests in flight and closes the sockets. */
  destroy(): Promise<void>
}

/** Creates the transport: the only code that builds requests and adds the credential. */
export function createTransport(options: ClientOptions): Transport {
  const { origin, token, tokenSource, random, clock, onRequest, proxy, clientCertificate } = options
  const timeouts = options.timeouts ?? DEFAULT_TIMEOUTS
  const connecting = new AbortController()
  // No buffers for the caller's dispatcher, which hides when a request is written, nor for a library in this process, which takes many.
  const buffers = options.dispatcher || options.whereabouts ? undefined : new UploadBuffers()
  const pool = options.dispatcher ? undefined : openPool(options, connecting.signal, buffers)
  const dispatcher = options.dispatcher ?? pool ?? openPool(options, connecting.signal, buffers)
  const authorization = `Bearer ${token}`
  // A short token may equal other text, such as an identifier; real credentials are long.
  const redact = createRedaction(token.length < MIN_SECRET_LENGTH ? '' : token)

  let inFlight = 0
  const onEnded = () => {
    inFlight -= 1
  }
  const exchangeWire = { origin, clock, proxy, clientCertificate, onEnded }

  async function send<T>(request: ServiceRequest<T>): Promise<T> {
    interruptIfAborted(request)
    const { method, path, name } = addressOf(request.target)
    const { body } = request
    if (body?.kind === 'file' && body.fence?.isOpen() === false) await body.fence.waitUntilOpen()
    const opened = body && openBody(body, random, buffers)
    // A small file is already read, and an await would delay it.
    const payload = opened instanceof Promise ? await opened : opened
    // The exchange notices only later aborts.
    if (request.signal?.aborted) payload?.release()
    interruptIfAborted(request)
    const streamed = payload !== undefined && !Buffer.isBuffer(payload.content)
    const limits = {
      answerMs: timeouts.requestMs + Math.floor((payload?.sizeBytes ?? 0) / DIGEST_BYTES_PER_SECOND) * 1_000,
      cutMs: cutMsOf(request, clock),
      stallMs: streamed ? timeouts.uploadStallMs : undefined,
    }
    const exchange = new Exchange(request, limits, exchangeWire)
    inFlight += 1
    const startedMs = clock.monotonicMs()
    const dispatched = { origin, method, path, headers: headersOf(request, payload, authorization), ...UNTIMED }
    // undici accepts any async iterable, and waits until a chunk is written. Its types name only streams, which would read ahead.
    dispatch(dispatcher, payload ? Object.assign(dispatched, { body: payload.content }) : dispatched, exchange)
    try {
      const received = await exchange.response
      if (Buffer.isBuffer(payload?.content)) buffers?.giveBack(payload.content)
      const response = { ...received, origin, tokenSource, clientCertificate, receivedAtMs: clock.nowMs(), redact }
      refuseRedirect(request, response)
      return await readResponse(request, response)
    } finally {
      payload?.release()
      onRequest?.({ route: name, status: exchange.status, durationMs: clock.monotonicMs() - startedMs })
    }
  }

  const destroy = async () => {
    connecting.abort()
    await pool?.destroy()
  }
  return {
    send,
    close: async () => {
      if (pool?.destroyed) return
      // Pool.close would wait for aborted requests that still have no connection.
      await (inFlight === 0 ? destroy() : pool?.close())
    },
    destroy,
  }
}

/** Interprets an answer; any unexpected error of the reader means that the answer is malformed, not that shelfd failed. */
async function readResponse<T>(request: ServiceRequest<T>, response: ServiceResponse): Promise<T> {
  try {
    return await request.read(response, request)
  } catch (error) {
    if (error instanceof ShelfdError || error instanceof TransientFailure) throw error
    throw malformed('the answer cannot be parsed')
  }
}

/** Opens a pool of sockets for HTTP/1.1 only, because destroying a socket must end a single upload. */
function openPool(
  { origin, whereabouts, connections, proxy, authorities, clientCertificate }: ClientOptions,
  signal: AbortSignal,
  buffers: UploadBuffers | undefined,
): Connections {
  const onConnected = (socket: Socket) => buffers?.watch(socket)
  const connect = createConnector(origin, { proxy, authorities, clientCertificate, whereabouts, signal, onConnected })
  const sockets = new Pool(origin, { connections, allowH2: false, connect })
  return whereabouts ? new PortDispatcher(sockets, whereabouts) : sockets
}

/** Returns the remaining time of a request; undefined for downloads, and for uploads, which an abort would leave in doubt. */
function cutMsOf({ body, streamed, deadlineMs }: ServiceRequest<unknown>, clock: Clock): number | undefined {
  if (body?.kind === 'file' || streamed || deadlineMs === undefined) return undefined
  return Math.max(0, deadlineMs - clock.monotonicMs())
}

const UNTIMED = { headersTimeout: 0, bodyTimeout: 0 }

function dispatch(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  options: Dispatcher.DispatchOptions,
  exchange: Exchange,
): void {
  try {
    dispatcher.dispatch(options, exchange)
  } catch (error) {
    exchange.fail(error)
  }
}

function headersOf(request: ServiceRequest<unknown>, payload: Payload | undefined, authorization: string): string[] {
  const headers = ['authorization', authorization, 'accept', request.streamed ? '*/*' : 'application/json']
  if (payload) headers.push('content-type', payload.contentType)
  else if (request.target.kind !== 'raw' && !request.streamed) headers.push('accept-encoding', 'gzip')
  if (payload && !Buffer.isBuffer(payload.content)) headers.push('content-length', String(payload.sizeBytes))
  return headers
}

function openBody(body: RequestBody, random: Random, buffers?: UploadBuffers): Payload | Promise<Payload> {
  if (body.kind === 'file') return openMultipart(body, random, buffers)
  const content = Buffer.from(JSON.stringify(body.value))
  return { contentType: 'application/json', sizeBytes: content.length, content, release() {} }
}

/** Rejects redirects: following one would send the file and the credential to an address that is not configured. */
function refuseRedirect(request: ServiceRequest<unknown>, response: ServiceResponse): void {
  if (response.status < 300 || response.status > 399) return
  const location = response.redact(String(response.headers.location ?? 'nowhere'))
  const target = escapeText(truncateText(location, 300))
  const hint =
    'if that is a sign-in page of this network, open it in a browser, otherwise set service.url to the right address'
  const reason = `the service redirects to "${target}" (${response.status}); shelfd never follows redirects: ${hint}`
  // A service may redirect after it has stored a file.
  if (request.body?.kind === 'file') throw new DoubtError(cannot(request, reason), 'redirect-refused')
  throw new AccessError('redirect-refused', cannot(request, reason))
}
