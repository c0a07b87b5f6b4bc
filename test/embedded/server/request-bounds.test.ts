import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { EmbeddedOptions } from '../../../src/embedded/start-embedded.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startLibrary } from '../temporary-library.ts'

async function withSockets(options: Partial<EmbeddedOptions> = {}) {
  const started = await startLibrary(options)
  const { library, client } = started
  const id = await client.createLibrary()
  const { hostname, port } = new URL(library.url)
  const open = async () => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
    await once(socket, 'connect')
    return socket
  }
  /** Begins a request with a body of this length; the head is sent. */
  const begin = async (type: string, length: number, path = `libraries/${id}/files`) => {
    const socket = await open()
    socket.write(
      `POST /api/v1/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${library.token}\r\n` +
        `Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`,
    )
    return socket
  }
  return { ...started, id, open, begin }
}

/** The answer that arrives until the service closes the connection. */
async function answerOn(socket: Socket): Promise<{ status: number; json: unknown }> {
  const whole = await text(socket)
  socket.destroy()
  return { status: Number(whole.split(' ')[1]), json: JSON.parse(whole.slice(whole.indexOf('\r\n\r\n'))) }
}

/** A clock with real sleeps below a second; the test ends longer ones. */
function patientClock() {
  const manual = manualClock()
  const sleep: typeof manual.sleep = (ms, signal) => (ms < 1_000 ? systemClock : manual).sleep(ms, signal)
  return { manual, clock: { ...manual, sleep } }
}

/** The bytes of the upload under way that are in its file. */
function receivedBytes(dataDir: string): number {
  const [name] = readdirSync(join(dataDir, 'tmp'))
  return name === undefined ? 0 : statSync(join(dataDir, 'tmp', name)).size
}

const FORM = 'multipart/form-data; boundary=B'
const HEAD = '--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
const LATE = { status: 408, json: { message: 'The body of the request did not arrive in time' } }

describe('a slow body', () => {
  it.each([FORM, 'application/json'])('a slow body of the type %s ends with 408 [S-17]', async (type) => {
    const { begin, client } = await withSockets({ requests: { bodyIdleMs: 30 } })
    const path = type === FORM ? undefined : 'libraries'
    const socket = await begin(type, 100_000, path)
    socket.write(type === FORM ? HEAD : '{')
    expect(await answerOn(socket)).toEqual(LATE)
    expect((await client.get('/auth/check')).status).toBe(200)
  })

  it('a body that drips ends with 408, however long it would last [S-17]', async () => {
    const { manual, clock } = patientClock()
    const { begin, client } = await withSockets({ clock })
    const socket = await begin(FORM, 100_000)
    let isOver = false
    socket.once('close', () => {
      isOver = true
    })
    const answer = answerOn(socket)
    // A few requests give the service time to read the byte that was sent before.
    const letRead = async () => {
      for (const _ of [1, 2, 3]) await client.get('/auth/check')
    }
    await letRead()
    while (!isOver) {
      socket.write('x')
      await letRead()
      await manual.advance(60_000)
    }
    expect(await answer).toEqual(LATE)
  })

  it('a body that keeps moving is received whole', async () => {
    const { manual, clock } = patientClock()
    const { begin, client, id, dataDir } = await withSockets({ clock })
    // No text, which would be compressed: this way the file shows what has arrived.
    const piece = '\0\x01'.repeat(100_000)
    const socket = await begin(FORM, HEAD.length + 3 * piece.length + '\r\n--B--'.length)
    const answer = once(socket, 'data')
    socket.write(HEAD)
    for (const count of [1, 2, 3]) {
      socket.write(piece)
      while (receivedBytes(dataDir) < (count - 0.5) * piece.length) await client.get('/auth/check')
      await manual.advance(60_000)
    }
    socket.write('\r\n--B--')
    expect(String(await answer)).toMatch(/^HTTP\/1\.1 201 /)
    socket.destroy()
    expect((await client.listing(id, { path: '/.inbox' })).json.files).toHaveLength(1)
  })

  it('a body is not awaited once its request is answered', async () => {
    const { begin } = await withSockets({ requests: { lingerMs: 30 } })
    const socket = await begin(FORM, 100_000_000, 'libraries/none/files')
    expect((await answerOn(socket)).status).toBe(404)
  })
})

describe('connections without a request', () => {
  it.each(['', 'GET /api/v1/auth/check HTTP/1.1\r\nHost: x\r\n'])(
    'a connection without a request is closed in time after "%s"',
    async (head) => {
      const { open } = await withSockets({ requests: { headersMs: 50 } })
      const socket = await open()
      socket.write(head)
      expect((await answerOn(socket)).status).toBe(408)
    },
  )

  it('idle connections prevent no request, however many [S-17]', async () => {
    const { open, client } = await withSockets({ requests: { maxConnections: 10 } })
    const sockets = await Promise.all(Array.from({ length: 200 }, open))
    for (let count = 0; count < 20; count += 1) expect((await client.get('/auth/check')).status).toBe(200)
    while (sockets.filter((socket) => socket.readableEnded).length < 190) await client.get('/auth/check')
    for (const socket of sockets) socket.destroy()
  })

  it('a connection that sends no HTTP is answered in JSON', async () => {
    const { open } = await withSockets()
    const asked: [string, number][] = [
      ['\0\u0001\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    ]
    for (const [sent, status] of asked) {
      const socket = await open()
      socket.write(sent)
      expect(await answerOn(socket)).toEqual({ status, json: { message: expect.any(String) } })
    }
  })
})

const LONG = `--${'B'.repeat(71)}`
const part = (headers: string, content = '') => `--B\r\n${headers}\r\n\r\n${content}\r\n`
const field = (name: string, content = '') => part(`Content-Disposition: form-data; name="${name}"`, content)
const file = (name: string) => part(`Content-Disposition: form-data; name="file"; filename="${name}"`, 'x')

it.each<[what: string, status: number, body: string, type?: string]>([
  ['a boundary of 71 characters', 422, `${file('a')}--B--`.replaceAll('--B', LONG), `${FORM}${'B'.repeat(70)}`],
  ['a quoted boundary without an end', 422, '', 'multipart/form-data; boundary="B'],
  ['the name of a field of 256 bytes', 422, `${field('é'.repeat(128))}${file('a')}--B--`],
  ['the name of a file of 1,025 bytes', 422, `${file('a'.repeat(1_025))}--B--`],
  [
    'a type of 128 characters',
    422,
    `${part(`Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: a/${'b'.repeat(128)}`)}--B--`,
  ],
  ['headers of more than 16 KiB', 422, `${part(`X: ${'x'.repeat(16_384)}`)}${file('a')}--B--`],
  ['33 parts', 422, `${field('a').repeat(32)}${file('a')}--B--`],
  ['a field of more than 64 KiB', 422, `${field('a', 'x'.repeat(65_537))}${file('a')}--B--`],
  ['256 KiB before its first part', 413, `${'x'.repeat(262_144)}\r\n${file('a')}--B--`],
  ['256 KiB after its last part', 413, `${file('a')}--B--${'x'.repeat(262_144)}`],
])('a form with %s is refused (%i) [S-17]', async (_, status, body, type = FORM) => {
  const { client, id } = await withSockets()
  const chunks = ReadableStream.from(body.match(/[\s\S]{1,50000}/g) ?? []).pipeThrough(new TextEncoderStream())
  const init = { method: 'POST', body: chunks, headers: { 'content-type': type }, duplex: 'half' }
  const answer = await client.send(`/libraries/${id}/files`, init as RequestInit)
  expect(answer).toMatchObject({ status, json: { message: expect.any(String) } })
  expect((await client.listing(id, { path: '/.inbox' })).json.files).toEqual([])
})

it('a form within every bound is accepted', async () => {
  const { client, id } = await withSockets()
  const boundary = 'B'.repeat(70)
  const body = `${field('é'.repeat(127)).repeat(31)}${file('a'.repeat(1_024))}--B--`.replaceAll('--B', `--${boundary}`)
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  expect(await client.send(`/libraries/${id}/files`, { method: 'POST', body, headers })).toMatchObject({ status: 201 })
})

it.each<[what: string, status: number, body: string, type?: string]>([
  ['more than 256 KiB', 413, JSON.stringify({ name: 'x'.repeat(262_144) })],
  ['100,000 levels', 422, '['.repeat(100_000) + ']'.repeat(100_000)],
  ['100,000 unclosed levels', 422, '{"a":'.repeat(50_000)],
  ['another type', 415, '{"name":"x"}', 'text/plain'],
  ['no JSON', 422, '{'],
])('a JSON body of %s is refused (%i) [S-17]', async (_, status, body, type = 'application/json') => {
  const { client } = await withSockets()
  const answer = await client.send('/libraries', { method: 'POST', body, headers: { 'content-type': type } })
  expect(answer).toMatchObject({ status, json: { message: expect.any(String) } })
})
