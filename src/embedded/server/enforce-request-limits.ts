import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../foundation/clock.ts'
import { ConnectionBound } from '../../foundation/network/connection-bound.ts'
import { ApiError } from '../http/api-error.ts'
import { MIN_BODY_BYTES, type RequestLimits } from './request-limits.ts'

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
  const over = new AbortController()
  raw.once('close', () => over.abort())
  const { socket } = raw
  const refuse = () => {
    if (reply.sent) return void socket.destroy()
    reply.raw.once('finish', () => socket.destroySoon())
    reply.header('connection', 'close').send(new ApiError(408, 'The body of the request did not arrive in time'))
  }
  stalled(() => socket.bytesRead, limits.bodyIdleMs, clock, over.signal).then(refuse, () => {})
  reply.raw.once('finish', () => {
    if (raw.complete) return
    clock.sleep(limits.lingerMs, over.signal).then(
      () => socket.destroy(),
      () => {},
    )
  })
}

/** Resolves when fewer than MIN_BODY_BYTES have arrived within `idleMs`; rejects when aborted. */
async function stalled(bytesRead: () => number, idleMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let before = -MIN_BODY_BYTES; bytesRead() - before >= MIN_BODY_BYTES; ) {
    before = bytesRead()
    await clock.sleep(idleMs, signal)
  }
}
