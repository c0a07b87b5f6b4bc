import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../foundation/clock.ts'
import { ConnectionBound } from '../../foundation/network/connection-bound.ts'
import { ApiError } from '../http/api-error.ts'

/** Bounds on the time that a client may take for a request, and on open connections. */
export const REQUEST_LIMITS = {
  /** The headers must be complete this long after the connection, or after the first byte of a later request. */
  headersMs: 20_000,
  /** At least MIN_BODY_BYTES of a body must arrive within each period of this length. */
  bodyIdleMs: 60_000,
  /** After an early response, the server discards the remaining body for this long, so that the client sees the response. */
  lingerMs: 10_000,
  /** If one more client connects, the server closes the connection that has been idle longest. */
  maxConnections: 512,
}

export type RequestLimits = Readonly<typeof REQUEST_LIMITS>

const MIN_BODY_BYTES = 1_024

/** Large enough for the longest library path, percent-encoded in the request line. */
export const MAX_HEADER_BYTES = 64 * 1024

/** Large enough for the longest fields of the interface with every character escaped. */
export const MAX_JSON_BYTES = 256 * 1024

/** Closes connections beyond the limit, ends requests whose bodies stall, and closes connections with unread bodies. */
export function enforceRequestLimits(app: FastifyInstance, limits: RequestLimits, clock: Clock): void {
  const connections = new ConnectionBound(limits.maxConnections)
  app.server.on('connection', (socket) => connections.admit(socket))
  app.server.on('request', ({ socket }, response) => {
    connections.markBusy(socket)
    response.once('close', () => connections.markIdle(socket))
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (hasBody(request)) watchBody(request, reply, limits, clock)
    done()
  })
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Answers 408 if the body stalls. After an early response, closes the connection if the remaining body takes longer than `lingerMs`. */
function watchBody({ raw }: FastifyRequest, reply: FastifyReply, limits: RequestLimits, clock: Clock): void {
  const { socket } = raw
  const stall = onStall(
    () => socket.bytesRead,
    limits.bodyIdleMs,
    clock,
    () => {
      if (reply.sent) return void socket.destroy()
      reply.raw.once('finish', () => socket.destroySoon())
      reply.header('connection', 'close').send(new ApiError(408, 'The body of the request did not arrive in time'))
    },
  )
  raw.once('close', () => stall[Symbol.dispose]())
  reply.raw.once('finish', () => {
    if (raw.complete) return
    const linger = clock.startTimer(limits.lingerMs, () => socket.destroy())
    raw.once('close', () => linger[Symbol.dispose]())
  })
}

/** Calls `refuse` if fewer than MIN_BODY_BYTES arrive within a period of `idleMs`. */
function onStall(bytesRead: () => number, idleMs: number, clock: Clock, refuse: () => void): Disposable {
  let before = bytesRead()
  const timer = clock.startTimer(idleMs, () => {
    if (bytesRead() - before < MIN_BODY_BYTES) return refuse()
    before = bytesRead()
    timer.refresh()
  })
  return timer
}
