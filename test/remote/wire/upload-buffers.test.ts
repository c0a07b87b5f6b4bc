import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { decideCapabilities } from '../../../src/remote/capabilities/capabilities.ts'
import type { UploadRequest } from '../../../src/remote/service-client.ts'
import { UploadBuffers } from '../../../src/remote/wire/multipart.ts'
import { openSocket } from '../../../src/remote/wire/sockets.ts'
import { clientOf, turns, uploadOf } from '../support.ts'

const MUCH = Buffer.alloc(32 << 20)

/** A server that reads nothing until `resume`. */
async function serveSlowly() {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const accepted: Socket[] = []
  server.on('connection', (socket) => void accepted.push(socket.on('error', () => {})))
  const close = () => {
    for (const socket of accepted) socket.destroy()
    server.close()
  }
  return { port, accepted, server, [Symbol.dispose]: close }
}

async function busyBuffers() {
  const slow = await serveSlowly()
  const connected = once(slow.server, 'connection')
  const socket = await openSocket({ host: '127.0.0.1', port: slow.port }, undefined)
  await connected
  const buffers = new UploadBuffers()
  buffers.watch(socket)
  const early = buffers.take(1_000)
  socket.write(MUCH)
  buffers.giveBack(early)
  return { slow, socket, buffers, early, [Symbol.dispose]: () => void [socket.destroy(), slow[Symbol.dispose]()] }
}

test('a buffer is lent again once every connection has written what it had [P10]', async () => {
  using busy = await busyBuffers()
  const { slow, socket, buffers, early } = busy
  expect(buffers.take(500).buffer).not.toBe(early.buffer)
  slow.accepted[0]?.resume()
  await once(socket, 'drain')
  const next = [buffers.take(700), buffers.take(700)]
  expect(next.map(({ buffer, length }) => [buffer === early.buffer, length])).toEqual([
    [true, 700],
    [false, 700],
  ])
})

test('a closed connection keeps no buffer from others', async () => {
  using busy = await busyBuffers()
  busy.socket.destroy()
  await once(busy.socket, 'close')
  expect(busy.buffers.take(1_000).buffer).toBe(busy.early.buffer)
})

test('a buffer that is given back twice, or was never lent, is not lent to two [P10]', () => {
  const buffers = new UploadBuffers()
  const lent = buffers.take(100)
  for (const given of [lent, lent, new Uint8Array(lent.buffer.byteLength)]) buffers.giveBack(given)
  const next = [buffers.take(100), buffers.take(100), buffers.take(100)].map(({ buffer }) => buffer)
  expect([new Set(next).size, next[0] === lent.buffer]).toEqual([3, true])
})

test('a file that is too large for it gets its own buffer', () => {
  const buffers = new UploadBuffers()
  const large = buffers.take(1 << 20)
  buffers.giveBack(large)
  expect(buffers.take(1 << 20).buffer).not.toBe(large.buffer)
})

const ANSWER = 'HTTP/1.1 201 Created\r\ncontent-length: 11\r\n\r\n{"id":"r1"}'

test('uploads that are answered before they are read leave with their own bytes [P10]', async () => {
  using slow = await serveSlowly()
  const connected = once(slow.server, 'connection')
  const capabilities = decideCapabilities({}, undefined)
  await using client = clientOf(`http://127.0.0.1:${slow.port}`, { connections: 1, capabilities })
  const files = Array.from({ length: 100 }, (_, index) => Buffer.alloc(100_000, index + 1))
  for (const bytes of files) {
    const opened = Promise.withResolvers<void>()
    const open: UploadRequest['openBody'] = (take) => {
      const room = take(bytes.length)
      room.set(bytes)
      opened.resolve()
      return room
    }
    const sent = client.uploadFile(uploadOf(open, { sizeBytes: bytes.length }))
    await opened.promise
    await connected
    await turns()
    slow.accepted[0]?.write(ANSWER)
    await sent
  }
  const chunks: Buffer[] = []
  slow.accepted[0]?.on('data', (chunk: Buffer) => void chunks.push(chunk)).resume()
  await expect.poll(() => Buffer.concat(chunks).includes(files.at(-1) ?? '')).toBe(true)
  const received = Buffer.concat(chunks)
  expect(files.filter((bytes) => !received.includes(bytes))).toEqual([])
})
