import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../foundation/clock.ts'
import { ConnectionBound } from '../../foundation/network/connection-bound.ts'
import { ApiError } from '../http/api-error.ts'

/** Bounds on the time that a client may take for a request, and on open connections. */
export const REQUEST_LIMITS = {
  /** From the connection, or the first byte of a later request, to the end of the headers. */
  headersMs: 20_000,
  /** At least MIN_BODY_BYTES of a body must arrive in each such span. */
  bodyIdleMs: 60_000,
  /** The server discards the rest of a body for this time after it has answered, so that the client sees the response. */
  lingerMs: 10_000,
  /** When one more client connects, the server closes the connection that has been idle longest. */
  maxConnections: 512,
}

export type RequestLimits = Readonly<typeof REQUEST_LIMITS>

const MIN_BODY_BYTES = 1_024

/** A percent-encoded library path of the greatest length fits into the request line. */
export const MAX_HEADER_BYTES = 64 * 1024

/** The longest fields of the interface fit in, each character escaped. */
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

/** Ends the request with 408 when its body stalls; closes its connection when the rest of the body takes longer than `lingerMs`. */
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

/** Calls `refuse` when fewer than MIN_BODY_BYTES have arrived within `idleMs`. */
function onStall(bytesRead: () => number, idleMs: number, clock: Clock, refuse: () => void): Disposable {
  let before = bytesRead()
  const timer = clock.startTimer(idleMs, () => {
    if (bytesRead() - before < MIN_BODY_BYTES) return refuse()
    before = bytesRead()
    timer.refresh()
  })
  return timer
}
