import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { PortAnswers, PortUploads } from '../../../src/contract/upload-port.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { ClosedFenceError } from '../../../src/remote/service-client.ts'
import { clientOf, HELLO, serve, thrownBy, turns, uploadOf } from '../support.ts'

/** A service that a client reaches by a port and by sockets; the test answers what comes by the port. */
async function serviceWithPort() {
  const { port1, port2 } = new MessageChannel()
  const bySocket: string[] = []
  const server = await serve((request, answer) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bySocket.push(Buffer.concat(chunks).toString())
      answer.writeHead(201).end('{"id":"by-socket"}')
    })
  })
  const messages: PortUploads[] = []
  port2.on('message', (message: PortUploads) => messages.push(message))
  const whereabouts: { uploadPort: MessagePort | undefined; isAt(): Promise<boolean>; relocate(): Promise<string> } = {
    uploadPort: port1,
    isAt: async () => true,
    relocate: async () => server.origin,
  }
  const client = clientOf(server.origin, {
    whereabouts,
    clock: systemClock,
    retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 },
  })
  onTestFinished(async () => {
    port2.close()
    await client.destroy()
    await server[Symbol.asyncDispose]()
  })
  const send = (text: string, overrides: Partial<Parameters<typeof client.uploadFile>[0]> = {}, signal?: AbortSignal) =>
    client.uploadFile(
      uploadOf(() => Buffer.from(text), { sizeBytes: text.length, ...overrides }),
      signal,
    )
  return {
    client,
    send,
    bySocket,
    whereabouts,
    port: port2,
    /** The uploads of each message. */
    messages,
    post: (answers: PortAnswers) => port2.postMessage(answers),
    numbers: () => messages.flatMap(({ uploads }) => uploads.map(({ number }) => number)),
    /** Waits until so many uploads have come. */
    received: (count: number) => expect.poll(() => messages.flatMap(({ uploads }) => uploads)).toHaveLength(count),
  }
}

const stored = (number: number) => ({ number, status: 201, body: `{"id":"r${number}"}` })

test('uploads of one turn share a message, in which each has its own bytes [P10]', async () => {
  const { client, send, received, messages, post, bySocket } = await serviceWithPort()
  await client.capabilities()
  const texts = ['first', 'second', 'third']
  const sent = texts.map((text) => send(text))
  await received(3)
  expect(messages).toHaveLength(1)
  const [message] = messages
  const bodies = message?.uploads.map(({ start, end }) => Buffer.from(message.bytes.subarray(start, end)).toString())
  expect(bodies?.map((body) => texts.filter((text) => body.includes(text)))).toEqual(texts.map((text) => [text]))
  post({ answers: (message?.uploads ?? []).map(({ number }) => stored(number)) })
  expect((await Promise.all(sent)).map(({ id }) => id)).toEqual(['r1', 'r2', 'r3'])
  expect(bySocket).toEqual([])
})

test('what is no small upload goes by a socket', async () => {
  const { client, send, messages, bySocket } = await serviceWithPort()
  expect(await send('x'.repeat(200_000))).toEqual({ id: 'by-socket' })
  await thrownBy(client.createDirectory('lib', '/a'))
  expect([messages, bySocket.length > 1]).toEqual([[], true])
})

test('no byte leaves by a port after the fence has closed [P3]', async () => {
  const { send, messages } = await serviceWithPort()
  let looks = 0
  const isOpen = () => {
    looks += 1
    return looks === 1
  }
  const fence = { isOpen, waitUntilOpen: async () => {} }
  expect(await thrownBy(send('hello', { fence }))).toBeInstanceOf(ClosedFenceError)
  await turns()
  expect(messages.flatMap(({ uploads }) => uploads)).toEqual([])
})

test('an upload is in doubt when it is interrupted between message and answer [P4]', async () => {
  const { send, received, post } = await serviceWithPort()
  const ending = new AbortController()
  const sent = thrownBy(send('hello', {}, ending.signal))
  await received(1)
  ending.abort()
  expect(await sent).toMatchObject({ kind: 'doubt', doubtCause: 'interrupted' })
  post({ answers: [stored(1)] })
  await turns()
})

test('an upload is in doubt when the thread ends before its answer, and the next one goes by a socket [P4]', async () => {
  const { send, received, port, whereabouts } = await serviceWithPort()
  const sent = thrownBy(send('hello'))
  await received(1)
  whereabouts.uploadPort = undefined
  port.close()
  expect(await sent).toMatchObject({ kind: 'doubt', doubtCause: 'service-unreachable' })
  expect(await send('again')).toEqual({ id: 'by-socket' })
})

test('uploads that a closing service has not looked at go by sockets, without a doubt [P4]', async () => {
  const { send, received, post, port, bySocket, numbers } = await serviceWithPort()
  const sent = [send('first'), send('second')]
  await received(2)
  const [taken = 0] = numbers()
  post({ answers: [stored(taken)], lastTaken: taken })
  expect(await Promise.all(sent)).toEqual([{ id: `r${taken}` }, { id: 'by-socket' }])
  expect(await send('third')).toEqual({ id: 'by-socket' })
  expect(bySocket.map((body) => /first|second|third/.exec(body)?.[0])).toEqual(['second', 'third'])
  port.close()
})

test('a service that comes back in another thread gets uploads by its new port', async () => {
  const { send, port, whereabouts, post } = await serviceWithPort()
  post({ answers: [], lastTaken: 0 })
  port.close()
  await once(port, 'close')
  const { port1, port2 } = new MessageChannel()
  whereabouts.uploadPort = port1
  port2.on('message', ({ uploads }: PortUploads) =>
    port2.postMessage({ answers: uploads.map(({ number }) => stored(number)) } satisfies PortAnswers),
  )
  expect((await send('hello')).id).toMatch(/^r/)
  port2.close()
})

test('closing a client awaits the answers that come by a port', async () => {
  const { client, send, received, post } = await serviceWithPort()
  const sent = send('hello')
  await received(1)
  let isClosed = false
  const closed = client.close().then(() => {
    isClosed = true
  })
  await turns()
  expect(isClosed).toBe(false)
  post({ answers: [stored(1)] })
  expect((await sent).id).toBe('r1')
  await closed
  expect(await thrownBy(send('late'))).toMatchObject({ code: 'connection-closed' })
})

test('destroying a client leaves uploads by a port in doubt [P4]', async () => {
  const { client, send, received } = await serviceWithPort()
  const sent = thrownBy(client.uploadFile(uploadOf(HELLO)))
  await received(1)
  await client.destroy()
  expect(await sent).toMatchObject({ kind: 'doubt', doubtCause: 'interrupted' })
  expect(await thrownBy(send('late'))).toMatchObject({ code: 'connection-closed' })
})
