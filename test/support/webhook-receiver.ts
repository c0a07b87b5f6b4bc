import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver of webhooks on loopback; it ends with the test. */
export interface WebhookReceiver {
  readonly url: string
  readonly received: readonly Received[]
  /** The status of each answer; undefined: it never answers. */
  answer: () => number | undefined
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = []
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      received.push({ path: incoming.url ?? '', headers: incoming.headers, body: Buffer.concat(chunks).toString() })
      const status = receiver.answer()
      if (status !== undefined) outgoing.writeHead(status, { location: '/elsewhere' }).end('thank you')
    })
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const { port } = server.address() as AddressInfo
  const receiver: WebhookReceiver = { url: `http://127.0.0.1:${port}`, received, answer: () => 200 }
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return receiver
}
