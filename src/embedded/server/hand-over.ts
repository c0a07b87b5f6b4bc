import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/** Answers 202 at a secret path, which is returned, and then lets another process have the library. */
export function serveHandOver(app: FastifyInstance, onHandOver: () => void): string {
  const path = `/hand-over/${randomUUID()}`
  app.post(path, (_request, reply) => {
    reply.raw.once('close', onHandOver)
    return reply.code(202).send()
  })
  return path
}
