import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { UploadRequest } from '../../../src/remote/service-client.ts'
import { clientOn, thrownBy, uploadOf } from '../support.ts'

const CHUNK = 1 << 18

type Service = (request: IncomingMessage, response: ServerResponse) => void

const store = (response: ServerResponse) => void response.writeHead(201).end('{"id":"r1"}')

/** Services that treat the bytes of an upload as no good one does. */
const SERVICES: readonly (readonly [string, Service])[] = [
  ['never reads', () => {}],
  ['reads late', (request, response) => void pause(50).then(() => request.resume().on('end', () => store(response)))],
  // On a busy machine the client may cut the upload meanwhile.
  [
    'reads slowly',
    (request, response) =>
      void readSlowly(request).then(
        () => store(response),
        () => {},
      ),
  ],
  [
    'answers before it reads',
    (request, response) => {
      store(response)
      void pause(20).then(() => request.resume())
    },
  ],
  ['closes midway', (request) => void request.once('data', () => request.socket.destroy())],
  ['closes at the end', (request) => void request.resume().on('end', () => request.socket.destroy())],
]

async function readSlowly(request: IncomingMessage): Promise<void> {
  for await (const _ of request) await pause(2)
}

/** Records what arrives of each upload, whatever the service does with it. */
function recordInto(bodies: Buffer[][], service: Service): Service {
  return (request, response) => {
    const chunks: Buffer[] = []
    bodies.push(chunks)
    const { push } = request
    request.push = (chunk: Buffer | null, encoding) => {
      if (chunk) chunks.push(Buffer.from(chunk))
      return push.call(request, chunk, encoding)
    }
    service(request, response)
  }
}

type Take = Parameters<UploadRequest['openBody']>[0]

function readInto(take: Take, bytes: Buffer): Uint8Array {
  const room = take(bytes.length)
  room.set(bytes)
  return room
}

async function* inChunks(take: Take, bytes: Buffer) {
  for (let start = 0; start < bytes.length; start += CHUNK) {
    yield readInto(take, bytes.subarray(start, start + CHUNK))
    await pause(0)
  }
}

test.each(SERVICES)('no byte of another file leaves with an upload to a service that %s [P10]', async (_, service) => {
  const bodies: Buffer[][] = []
  const timeouts = { requestMs: 300, uploadStallMs: 300 }
  await using client = await clientOn({ connections: 4, timeouts }, recordInto(bodies, service))
  const files = [100, 60_000, 5 * CHUNK + 7, 80, 9 * CHUNK, 120_000].map((size) => randomBytes(size))
  const send = async (bytes: Buffer) => {
    const open = (take: Take) => (bytes.length > 1 << 17 ? inChunks(take, bytes) : readInto(take, bytes))
    await thrownBy(client.uploadFile({ ...uploadOf(open), sizeBytes: bytes.length })).catch(() => {})
  }
  await Promise.all([...files, ...files].map(send))
  const contents = bodies.map((chunks) => contentOf(Buffer.concat(chunks)))
  expect(contents.length).toBeGreaterThan(0)
  for (const content of contents) expect(files.some((file) => isPrefix(content, file))).toBe(true)
})

/** Returns the bytes of the file in a multipart body that may be cut. */
function contentOf(body: Buffer): Buffer {
  const start = body.indexOf('\r\n\r\n', body.indexOf('name="file"'))
  const end = body.lastIndexOf('\r\n--shelfd-')
  return start < 0 ? Buffer.alloc(0) : body.subarray(start + 4, end > start ? end : body.length)
}

function isPrefix(content: Buffer, file: Buffer): boolean {
  return content.equals(file.subarray(0, content.length))
}
