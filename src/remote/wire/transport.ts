import { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import type { Clock, Random } from '../../foundation/clock.ts'
import { DoubtError, RefusedError, ShelfdError } from '../../foundation/errors.ts'
import { createRedaction } from '../../foundation/redaction.ts'
import { escapeText, truncateText } from '../../foundation/text.ts'
import { type ClientOptions, DEFAULT_TIMEOUTS } from '../client-options.ts'
import { addressOf } from './addresses.ts'
import { createConnector, type Way } from './connector.ts'
import { Exchange } from './exchange.ts'
import { openMultipart, type Payload } from './multipart.ts'
import { malformed } from './read-answer.ts'
import type { Answer, RequestBody, Send, ServiceRequest } from './request.ts'
import { cannot, interruptIfAborted, TransientFailure } from './transient-failure.ts'

const SHORTEST_SECRET = 12

/** What a service is given for digesting a body once it has all of it. */
const DIGEST_BYTES_PER_MS = 1 << 10

export interface Transport {
  readonly send: Send
  /** Waits for what is under way, then closes the sockets. */
  close(): Promise<void>
  /** Breaks off what is under way, and closes the sockets. */
  destroy(): Promise<void>
}

/** The wire: the only place where requests are built, and where the credential is added. */
export function createTransport(options: ClientOptions): Transport {
  const { origin, token, tokenSource, random, clock, onRequest } = options
  const timeouts = options.timeouts ?? DEFAULT_TIMEOUTS
  const connecting = new AbortController()
  const pool = options.dispatcher ? undefined : openPool(options, connecting.signal)
  const dispatcher = options.dispatcher ?? pool ?? openPool(options, connecting.signal)
  const way = { origin, clock, proxy: options.proxy }
  const authorization = `Bearer ${token}`
  // A short word may be anything, an identifier for one; credentials are long.
  const redact = createRedaction(token.length < SHORTEST_SECRET ? '' : token)

  let underWay = 0

  async function send<T>(request: ServiceRequest<T>): Promise<T> {
    interruptIfAborted(request)
    const { method, path, name } = addressOf(request.target)
    const payload = request.body && (await openBody(request.body, random))
    const streamed = payload !== undefined && !Buffer.isBuffer(payload.content)
    const limits = {
      answerMs: timeouts.requestMs + (payload?.sizeBytes ?? 0) / DIGEST_BYTES_PER_MS,
      cutMs: cutMsOf(request, clock),
      stallMs: streamed ? timeouts.uploadStallMs : undefined,
    }
    const exchange = new Exchange(request, limits, way)
    underWay += 1
    void exchange.ended.then(() => {
      underWay -= 1
    })
    const startedMs = clock.monotonicMs()
    const wire = { origin, method, path, headers: headersOf(request, payload, authorization), ...UNTIMED }
    dispatch(dispatcher, payload ? { ...wire, body: bodyOf(payload) } : wire, exchange)
    try {
      const answer = { ...(await exchange.answer), origin, tokenSource, receivedAtMs: clock.nowMs(), redact }
      refuseRedirect(request, answer)
      return await readAnswer(request, answer)
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
      // What was given up before it had a connection still waits for one.
      await (underWay === 0 ? destroy() : pool?.close())
    },
    destroy,
  }
}

/** What an answer means; whatever its reader trips over is an answer that cannot be understood, never an error of ours. */
async function readAnswer<T>(request: ServiceRequest<T>, answer: Answer): Promise<T> {
  try {
    return await request.read(answer, request)
  } catch (error) {
    if (error instanceof ShelfdError || error instanceof TransientFailure) throw error
    throw malformed('the answer cannot be understood')
  }
}

/** HTTP/1.1 only: destroying the socket must end one upload and nothing else. Plain HTTP stays on this computer: no proxy, no certificate. */
function openPool({ origin, connections, proxy, authorities }: ClientOptions, signal: AbortSignal): Pool {
  const isPlain = origin.startsWith('http:')
  const way: Way = { proxy, authorities, signal }
  return new Pool(origin, { connections, allowH2: false, ...(!isPlain && { connect: createConnector(origin, way) }) })
}

/** When the time of a request is over it is cut, but no upload, which would be in doubt, and no download. */
function cutMsOf({ body, streamed, untilMs }: ServiceRequest<unknown>, clock: Clock): number | undefined {
  if (body?.kind === 'file' || streamed || untilMs === undefined) return undefined
  return Math.max(0, untilMs - clock.monotonicMs())
}

const UNTIMED = { headersTimeout: 0, bodyTimeout: 0 }

function dispatch(dispatcher: Dispatcher, options: Dispatcher.DispatchOptions, exchange: Exchange): void {
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

function openBody(body: RequestBody, random: Random): Payload | Promise<Payload> {
  if (body.kind === 'file') return openMultipart(body, random)
  const content = Buffer.from(JSON.stringify(body.value))
  return { contentType: 'application/json', sizeBytes: content.length, content, release() {} }
}

function bodyOf(payload: Payload): Buffer | Readable {
  return Buffer.isBuffer(payload.content) ? payload.content : Readable.from(payload.content, { objectMode: false })
}

/** Redirects are never followed: the file and the credential would go where nobody configured. */
function refuseRedirect(request: ServiceRequest<unknown>, answer: Answer): void {
  if (answer.status < 300 || answer.status > 399) return
  const location = answer.redact(String(answer.headers.location ?? 'nowhere'))
  const target = escapeText(truncateText(location, 300))
  const reason = `the service redirects to "${target}" (${answer.status}), which is never followed`
  // A service may redirect after it has stored a file.
  if (request.body?.kind === 'file') throw new DoubtError(cannot(request, reason), 'redirect-refused')
  throw new RefusedError('redirect-refused', cannot(request, reason))
}
