import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:net'
import { isLoopback } from '../../foundation/network/loopback.ts'

/** An address at which programs of this machine reach a server. */
interface LocalAddress extends AsyncDisposable {
  readonly url: string
}

/**
 * Returns the server's own address if it is a loopback address. Otherwise opens a loopback port that leads to the server, because
 * tokens go over plain HTTP only within this machine.
 */
export async function answerOnLoopback(server: Server, listensAt: string): Promise<LocalAddress> {
  if (isLoopback(new URL(listensAt).hostname)) return { url: listensAt, [Symbol.asyncDispose]: async () => {} }
  const loopbackServer = createServer((socket) => server.emit('connection', socket))
  loopbackServer.listen(0, '127.0.0.1')
  await once(loopbackServer, 'listening')
  loopbackServer.on('error', (error) => server.emit('error', error))
  const address = loopbackServer.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    // Its connections belong to the server, which closes them.
    [Symbol.asyncDispose]: async () => void loopbackServer.close(),
  }
}
