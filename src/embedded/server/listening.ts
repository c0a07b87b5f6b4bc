import { once } from 'node:events'
import { messageOf, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { createServer } from '../../foundation/http/node-http.ts'

/** Throws the error of `cannotServe` when nothing could listen at this address now. */
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
