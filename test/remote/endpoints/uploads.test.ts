import type { IncomingMessage, RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { DoubtError, FileError } from '../../../src/foundation/errors.ts'
import { clientOf, clientOn, HELLO, jumpingClock, serve, serveSockets, thrownBy, uploadOf } from '../support.ts'

const RETRY = { attempts: 3, firstDelayMs: 10, maxDelayMs: 100 }
const LARGE = Buffer.alloc(900_000, 'z')

/** Reads the whole body before it answers, as a service does. */
function havingRead(answer: RequestListener): RequestListener {
  return (request, response) => {
    request.resume().on('end', () => answer(request, response))
  }
}

const storing = (status: number, body: object) =>
  havingRead((_, answer) => answer.writeHead(status).end(JSON.stringify(body)))

async function upload(
  listener: RequestListener,
  request = uploadOf(HELLO),
  overrides: Parameters<typeof clientOf>[1] = {},
) {
  await using client = await clientOn({ retry: RETRY, ...overrides }, listener)
  return await client.uploadFile(request)
}

/** The client of a stopped server whose description was read, so that only the upload fails. */
async function clientOfGoneServer() {
  await using server = await serve(() => {})
  const client = clientOf(server.origin, { retry: RETRY })
  await client.capabilities()
  return client
}

async function* twoChunks() {
  yield Buffer.from('he')
  yield Buffer.from('llo')
}

describe('stored uploads', () => {
  it.each([
    [201, { id: 'r1', duplicate: false }],
    [201, { id: 'r1' }],
    [200, { id: 'r1', duplicate: true }],
    [200, { id: 'r1' }],
  ])('an upload is stored by %i with an identifier', async (status, answer) => {
    expect(await upload(storing(status, answer))).toEqual(answer)
  })

  it('an upload arrives whole and declared, never chunked [P10]', async () => {
    const requests: IncomingMessage[] = []
    let received = 0
    const listener: RequestListener = (request, answer) => {
      requests.push(request)
      request.on('data', (chunk: Buffer) => {
        received += chunk.length
      })
      request.on('end', () => answer.writeHead(201).end('{"id":"r1"}'))
    }
    await upload(
      listener,
      uploadOf(() => LARGE, { sizeBytes: LARGE.length }),
    )
    expect(requests[0]?.headers['transfer-encoding']).toBeUndefined()
    expect(Number(requests[0]?.headers['content-length'])).toBe(received)
  })
})

async function* slowly() {
  for (let piece = 0; piece < 30; piece += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    yield Buffer.alloc(100)
  }
}

it('a slow upload continues as long as it moves', async () => {
  const timeouts = { requestMs: 200, uploadStallMs: 200 }
  const request = uploadOf(() => slowly(), { sizeBytes: 3_000 })
  expect(await upload(storing(201, { id: 'r1' }), request, { clock: systemClock, timeouts })).toEqual({ id: 'r1' })
})

describe('uploads in doubt', () => {
  it.each<[string, RequestListener]>([
    ['500', storing(500, {})],
    ['502', storing(502, {})],
    ['503', storing(503, {})],
    ['504', storing(504, {})],
    ['503 with Retry-After', havingRead((_, answer) => answer.writeHead(503, { 'retry-after': '1' }).end())],
    ['a reset after the body', havingRead((request) => request.socket.resetAndDestroy())],
    ['an end after the body', havingRead((request) => request.socket.end())],
    ['HTML', havingRead((_, answer) => answer.end('<html>'))],
    ['malformed JSON', havingRead((_, answer) => answer.writeHead(201).end('{"id":'))],
    ['no identifier', storing(201, { duplicate: false })],
    ['an empty identifier', storing(201, { id: '' })],
    ['a number for an identifier', storing(201, { id: 7 })],
    ['202', storing(202, { id: 'r1' })],
    ['204', havingRead((_, answer) => answer.writeHead(204).end())],
    [
      'a cut answer',
      havingRead((_, answer) => {
        answer.writeHead(201, { 'content-length': '99' }).write('{"id":"r1"')
        setImmediate(() => answer.destroy())
      }),
    ],
  ])('an upload is in doubt, and not sent again, after %s [P4, F-SV-04, F-SV-13]', async (_, listener) => {
    let count = 0
    const counting: RequestListener = (request, answer) => {
      count += 1
      listener(request, answer)
    }
    const failure = await thrownBy(upload(counting))
    expect(failure).toBeInstanceOf(DoubtError)
    expect(String(failure)).toContain('Cannot upload "a.md"')
    expect(count).toBe(1)
  })

  it.each([
    ['at once', uploadOf(HELLO), { requestMs: 60, uploadStallMs: 60_000 }],
    ['in pieces', uploadOf(() => twoChunks()), { requestMs: 60, uploadStallMs: 60_000 }],
  ])('an upload without an answer in time is in doubt, sent %s [P4, F-SV-05]', async (_, request, timeouts) => {
    expect(
      await thrownBy(
        upload(
          havingRead(() => {}),
          request,
          { timeouts },
        ),
      ),
    ).toBeInstanceOf(DoubtError)
  })

  it.each([0, 1, 100_000, 600_000])('an upload reset after %i bytes is in doubt [P4, F-SV-04]', async (bytes) => {
    let connections = 0
    const reset = (socket: Socket, head: string) => {
      let received = head.length
      connections += 1
      const cut = () => received > bytes && socket.resetAndDestroy()
      cut()
      socket.on('data', (chunk) => {
        received += chunk.length
        cut()
      })
    }
    await using server = await serveSockets((socket, head) => head.startsWith('POST') && reset(socket, head))
    await using client = clientOf(server.origin, { retry: RETRY })
    const request = uploadOf(() => LARGE, { sizeBytes: LARGE.length })
    expect(await thrownBy(client.uploadFile(request))).toBeInstanceOf(DoubtError)
    expect(connections).toBe(1)
  })

  it('a stalled upload is in doubt', async () => {
    await using server = await serveSockets((socket) => socket.pause())
    const timeouts = { requestMs: 60_000, uploadStallMs: 100 }
    await using client = clientOf(server.origin, { retry: RETRY, timeouts, contract: { uploadDirectoryField: null } })
    const large = Buffer.alloc(32 << 20)
    const failure = await thrownBy(client.uploadFile(uploadOf(() => large, { sizeBytes: large.length })))
    expect(failure).toBeInstanceOf(DoubtError)
  })

  it('an upload aborted on the way is in doubt [F-PR-01]', async () => {
    const abort = new AbortController()
    await using client = await clientOn(
      {},
      havingRead(() => abort.abort()),
    )
    expect(await thrownBy(client.uploadFile(uploadOf(HELLO), abort.signal))).toBeInstanceOf(DoubtError)
  })
})

describe('uploads without doubt', () => {
  it.each([
    [401, { kind: 'access', code: 'credential-refused' }],
    [403, { kind: 'access', code: 'right-missing' }],
    [404, { kind: 'request', code: 'not-found' }],
    [413, { kind: 'request', code: 'too-large' }],
    [415, { kind: 'request', code: 'request-rejected' }],
    [422, { kind: 'request', code: 'invalid' }],
  ])('an upload refused with %i is not in doubt [F-SV-10]', async (status, expected) => {
    expect(await thrownBy(upload(storing(status, {})))).toMatchObject(expected)
  })

  it('a refused upload shows the reason that the service gives for a field [F-SV-10]', async () => {
    const failure = await thrownBy(upload(storing(422, { message: 'Invalid', errors: { file: ['is odd'] } })))
    expect(String(failure)).toContain(
      'Cannot upload "a.md": the service answered 422 (validation error): Invalid; file: is odd',
    )
  })

  it('an upload that reaches nobody is not in doubt [F-SV-01, F-SV-03]', async () => {
    await using client = await clientOfGoneServer()
    expect(await thrownBy(client.uploadFile(uploadOf(HELLO)))).toMatchObject({ code: 'service-unreachable' })
  })

  it('an upload is sent again after 429 [F-SV-11]', async () => {
    const clock = jumpingClock()
    let count = 0
    const listener = havingRead((_, answer) => {
      count += 1
      if (count < 3) answer.writeHead(429, { 'retry-after': '20' }).end()
      else answer.writeHead(201).end('{"id":"r1"}')
    })
    expect(
      await upload(
        listener,
        uploadOf(() => twoChunks()),
        { clock },
      ),
    ).toEqual({ id: 'r1' })
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(40_000)
  })

  it('an upload aborted before it begins is not in doubt', async () => {
    const abort = AbortSignal.abort()
    await using client = clientOf('http://127.0.0.1:1')
    expect(await thrownBy(client.uploadFile(uploadOf(HELLO), abort))).toMatchObject({ kind: 'interrupted' })
  })
})

describe('a body that fails', () => {
  const changed = new FileError('busy', 'it changed')

  it('the error of a body reaches the caller unchanged', async () => {
    const open = () => Promise.reject(changed)
    expect(await thrownBy(upload(storing(201, { id: 'r1' }), uploadOf(open)))).toBe(changed)
  })

  it.each([0, 1, 500_000])('a body that fails after %i bytes never ends its request [P10]', async (sentBytes) => {
    let ended = 0
    let closed = () => {}
    const gone = new Promise<void>((resolve) => {
      closed = resolve
    })
    async function* failing() {
      if (sentBytes > 0) yield Buffer.alloc(sentBytes)
      throw changed
    }
    const listener: RequestListener = (request, answer) => {
      request.on('end', () => {
        ended += 1
        answer.writeHead(201).end('{"id":"r1"}')
      })
      request
        .on('error', () => {})
        .on('close', closed)
        .resume()
    }
    await using client = await clientOn({}, listener)
    const request = uploadOf(() => failing(), { sizeBytes: 900_000 })
    expect(await thrownBy(client.uploadFile(request))).toBe(changed)
    if (sentBytes > 0) await gone
    expect(ended).toBe(0)
  })

  it('a body never sends more or fewer bytes than declared [P10]', async () => {
    for (const sizeBytes of [4, 6]) {
      let ended = 0
      const failure = await thrownBy(
        upload(
          havingRead(() => {
            ended += 1
          }),
          uploadOf(() => twoChunks(), { sizeBytes }),
        ),
      )
      expect(failure).toMatchObject({ kind: 'file', code: 'busy' })
      expect(ended).toBe(0)
    }
  })

  it('a body that is too long is cut at once', async () => {
    const endless = uploadOf(() => Readable.from(Array(100).fill(LARGE)), { sizeBytes: 5 })
    expect(
      await thrownBy(
        upload(
          havingRead(() => {}),
          endless,
        ),
      ),
    ).toMatchObject({ kind: 'file', code: 'busy' })
  })

  it('a body is released when the service answers early', async () => {
    let returned = () => {}
    const released = new Promise<void>((resolve) => {
      returned = resolve
    })
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(65_536)
      } finally {
        returned()
      }
    }
    const request = uploadOf(() => endless(), { sizeBytes: 1 << 30 })
    const early: RequestListener = (_, answer) => answer.writeHead(413).end()
    const failure = await thrownBy(upload(early, request))
    expect(failure).toMatchObject({ code: 'too-large' })
    await released
  })

  it('a body is released when the service is unreachable', async () => {
    let open = 0
    async function* counted() {
      open += 1
      try {
        yield HELLO()
      } finally {
        open -= 1
      }
    }
    await using client = await clientOfGoneServer()
    expect(await thrownBy(client.uploadFile(uploadOf(() => counted())))).toMatchObject({ code: 'service-unreachable' })
    expect(open).toBe(0)
  })
})
