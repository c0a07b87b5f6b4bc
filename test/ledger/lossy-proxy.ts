import { createServer, connect as dial, type Socket } from 'node:net'
import type { Loss } from './memory-rows.ts'

/** A proxy before PostgreSQL that loses a call, or the answer to it, and the connection with that. */
export interface LossyProxy extends AsyncDisposable {
  readonly port: number
  /** Loses the next call. */
  lose(loss: Loss): void
}

/** The first byte of a statement with parameters: Parse. */
const PARSE = 0x50
/** What the server sends last: ReadyForQuery, when the transaction has ended. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function startLossyProxy(port: number): Promise<LossyProxy> {
  let next: Loss | undefined
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const backend = dial(port, '127.0.0.1')
    const end = () => {
      for (const socket of [client, backend]) {
        sockets.delete(socket)
        socket.destroy()
      }
    }
    let isLosing = false
    for (const socket of [client, backend]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.on('data', (bytes: Buffer) => {
      const loss = bytes[0] === PARSE ? next : undefined
      if (loss) next = undefined
      if (loss === 'call') return end()
      isLosing ||= loss === 'answer'
      backend.write(bytes)
    })
    backend.on('data', (bytes: Buffer) => {
      if (!isLosing) client.write(bytes)
      else if (bytes.subarray(-READY.length).equals(READY)) end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    lose: (loss) => {
      next = loss
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
