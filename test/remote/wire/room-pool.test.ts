import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { ChunkBuffers } from '../../../src/foundation/files/chunk-buffers.ts'
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
  const next = [rooms.take(700), rooms.take(700)]
  expect(next.map(({ buffer, length }) => [buffer === early.buffer, length])).toEqual([
    [true, 700],
    [false, 700],
  ])
  rooms.giveBack(late)
  expect(rooms.take(500).buffer).toBe(late.buffer)
})

test('a closed connection keeps no buffer from others', async () => {
  using slow = await connectToSlow()
  const rooms = new RoomPool()
  rooms.watch(slow.socket)
  const room = rooms.take(1_000)
  slow.socket.write(MUCH)
  rooms.giveBack(room)
  slow.socket.destroy()
  await once(slow.socket, 'close')
  expect(rooms.take(1_000).buffer).toBe(room.buffer)
})

test('few buffers wait for a slow connection', async () => {
  using slow = await connectToSlow()
  const rooms = new RoomPool()
  rooms.watch(slow.socket)
  slow.socket.write(MUCH)
  const given = new Set(Array.from({ length: 100 }, () => rooms.take(1_000)))
  for (const room of given) rooms.giveBack(room)
  slow.resume()
  await once(slow.socket, 'drain')
  const buffers = new Set([...given].map(({ buffer }) => buffer))
  const again = Array.from({ length: 100 }, () => rooms.take(1_000)).filter(({ buffer }) => buffers.has(buffer))
  expect(again).toHaveLength(32)
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

/** A file in chunks, each of which is read into a buffer that is given back when the next one is asked for. */
async function* inChunks(bytes: Buffer, sizes: readonly number[], buffers: ChunkBuffers, used: Set<ArrayBufferLike>) {
  let start = 0
  for (let index = 0; start < bytes.length; index += 1) {
    const size = Math.min(bytes.length - start, sizes[index % sizes.length] ?? 1)
    const chunk = buffers.take(size)
    used.add(chunk.buffer)
    chunk.set(bytes.subarray(start, start + size))
    yield chunk
    buffers.giveBack(chunk)
    start += size
  }
}

const CHUNK = 1 << 18

const CHUNK_SIZES = [
  { kind: 'equal', sizes: [CHUNK] },
  { kind: 'unequal', sizes: [CHUNK, 10, 1_000, 100_000] },
]

test.for(CHUNK_SIZES)('chunks of $kind length arrive whole from few buffers', async ({ sizes }) => {
  const bodies: Buffer[] = []
  await using server = await serve((request, answer) => {
    const chunks: Buffer[] = []
    // It reads late, so that connections have bytes left to write.
    setImmediate(() => request.on('data', (chunk: Buffer) => chunks.push(chunk)))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks))
      answer.writeHead(201).end('{"id":"r1"}')
    })
  })
  await using client = clientOf(server.origin, { connections: 4 })
  const used = new Set<ArrayBufferLike>()
  const files = Array.from({ length: 4 }, () => randomBytes(12 * CHUNK))
  const send = async (bytes: Buffer) => {
    const open = (_: Uint8Array | undefined, buffers?: ChunkBuffers) =>
      buffers ? inChunks(bytes, sizes, buffers, used) : bytes
    await client.uploadFile({ ...uploadOf(open), sizeBytes: bytes.length })
  }
  await Promise.all(files.map(send))
  expect(files.filter((bytes) => bodies.some((body) => body.includes(bytes)))).toHaveLength(files.length)
  expect(used.size).toBeLessThanOrEqual(24)
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
