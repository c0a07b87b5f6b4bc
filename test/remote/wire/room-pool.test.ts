import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { RoomPool } from '../../../src/remote/wire/room-pool.ts'
import { openSocket } from '../../../src/remote/wire/sockets.ts'
import { clientOf, serve, uploadOf } from '../support.ts'

const MUCH = Buffer.alloc(32 << 20)

/** A connection to a server that reads nothing until `resume`. */
async function connectToSlow() {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const accepted = once(server, 'connection')
  const socket = await openSocket({ host: '127.0.0.1', port }, undefined)
  const [other]: Socket[] = await accepted
  const close = () => {
    socket.destroy()
    other?.destroy()
    server.close()
  }
  return { socket, resume: () => other?.resume(), [Symbol.dispose]: close }
}

test('a buffer waits until all connections have written', async () => {
  using slow = await connectToSlow()
  const rooms = new RoomPool()
  rooms.watch(slow.socket)
  const [early, late] = [rooms.take(1_000), rooms.take(1_000)]
  slow.socket.write(MUCH)
  rooms.giveBack(early)
  expect(rooms.take(500).buffer).not.toBe(early.buffer)
  slow.resume()
  await once(slow.socket, 'drain')
  rooms.giveBack(late)
  const next = rooms.take(700)
  expect([next.buffer === late.buffer, next.length]).toEqual([true, 700])
})

test('a file that is too large for it gets its own buffer', () => {
  const rooms = new RoomPool()
  const large = rooms.take(1 << 20)
  rooms.giveBack(large)
  expect(rooms.take(1 << 20).buffer).not.toBe(large.buffer)
})

test('uploads one after the other share one buffer', async () => {
  const read = new Set<ArrayBufferLike>()
  const bodies: string[] = []
  await using server = await serve((request, answer) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString())
      answer.writeHead(201).end('{"id":"r1"}')
    })
  })
  await using client = clientOf(server.origin)
  for (const text of ['first', 'again', 'third']) {
    const open = (room: Uint8Array | undefined) => {
      room?.set(Buffer.from(text))
      if (room) read.add(room.buffer)
      return room ?? Buffer.from(text)
    }
    await client.uploadFile(uploadOf(open))
  }
  expect(read.size).toBe(1)
  expect(bodies.map((body) => /first|again|third/.exec(body)?.[0])).toEqual(['first', 'again', 'third'])
})

test('an upload without an answer keeps its buffer', async () => {
  const read = new Set<ArrayBufferLike>()
  await using server = await serve((request) => request.resume().on('end', () => request.socket.destroy()))
  await using client = clientOf(server.origin)
  const open = (room: Uint8Array | undefined) => {
    if (room) read.add(room.buffer)
    return room ?? new Uint8Array(5)
  }
  for (const _ of [1, 2]) await client.uploadFile(uploadOf(open)).catch(() => {})
  expect(read.size).toBe(2)
})
