import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { messageOf, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { createServer } from '../../foundation/http/node-http.ts'
import { isLoopback } from '../../foundation/network/loopback.ts'

/** Throws UsageError if no server can listen at this address now. */
export async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    throw cannotServe(host, port, error)
  }
  server.close()
  await once(server, 'close')
}

export function cannotServe(host: string, port: number, cause: unknown): UsageError {
  const code = systemCodeOf(cause) ?? messageOf(cause)
  const why = code === 'EADDRINUSE' ? 'another program uses this port' : code
  const text = `Cannot serve the library on ${host.includes(':') ? `[${host}]` : host}:${port}: ${why}`
  return new UsageError('bad-configuration', `${text}; choose another port`, { cause })
}

/**
 * Returns the server's own URL if its address is loopback. Otherwise opens a loopback port that leads to the server, and returns its URL:
 * tokens are sent over plain HTTP only within this machine.
 */
export async function answerOnLoopback(
  server: Server,
  listensAt: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  if (isLoopback(new URL(listensAt).hostname)) return { url: listensAt, [Symbol.asyncDispose]: async () => {} }
  const loopbackServer = createSocketServer((socket) => server.emit('connection', socket))
  loopbackServer.listen(0, '127.0.0.1')
  await once(loopbackServer, 'listening')
  loopbackServer.on('error', (error) => server.emit('error', error))
  const address = loopbackServer.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    // The connections of this port belong to the server, which closes them.
    [Symbol.asyncDispose]: async () => void loopbackServer.close(),
  }
}
