import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { clientOf, clientOn, collect, EMPTY_PAGE, jumpingClock, serve, thrownBy, turns } from '../support.ts'

const LIBRARY = { id: 'l1', name: 'Research', overview: null, created_at: '2030-01-01', updated_at: '2030-01-01' }
const NODE = { id: 'n1', name: 'b', overview: null, parent_id: null, organization_locked: false, is_archive: false }
const RETRY = { attempts: 3, firstDelayMs: 1, maxDelayMs: 2 }

interface Call {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly json: unknown
}

/** A server that answers by `METHOD path`, several answers in turn, and records its calls. */
async function scripted(script: Record<string, [status: number, body: unknown][]>) {
  const calls: Call[] = []
  const listener: RequestListener = async (request: IncomingMessage, answer) => {
    const body = await text(request)
    calls.push({ method: request.method, url: request.url, json: body === '' ? undefined : JSON.parse(body) })
    const answers = script[`${request.method} ${request.url?.split('?')[0]}`] ?? []
    const [status, json] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, {}]
    if (status === 0) request.socket.destroy()
    else answer.writeHead(status).end(json === undefined ? '' : JSON.stringify(json))
  }
  const server = await serve(listener)
  return { ...server, calls }
}

const DIRECTORY = '/api/v1/libraries/l1/directory'

it('createDirectory makes the directory with one request', async () => {
  await using server = await scripted({ [`POST ${DIRECTORY}`]: [[201, NODE]] })
  await using client = clientOf(server.origin)
  expect(await client.createDirectory('l1', '/a/b')).toBe('created')
  expect(server.calls).toEqual([{ method: 'POST', url: DIRECTORY, json: { path: '/a/b' } }])
})

it('createDirectory takes a conflict with a listing for existing [F-SV-09]', async () => {
  await using server = await scripted({ [`POST ${DIRECTORY}`]: [[409, {}]], [`GET ${DIRECTORY}`]: [[200, EMPTY_PAGE]] })
  await using client = clientOf(server.origin)
  expect(await client.createDirectory('l1', '/a/b')).toBe('existing')
  expect(server.calls[1]?.url).toBe(`${DIRECTORY}?path=%2Fa%2Fb&limit=1`)
})

it('createDirectory reports a conflict that no listing confirms [F-SV-09]', async () => {
  const conflict = { message: 'A file is there' }
  await using server = await scripted({ [`POST ${DIRECTORY}`]: [[409, conflict]], [`GET ${DIRECTORY}`]: [[404, {}]] })
  await using client = clientOf(server.origin)
  const failure = await thrownBy(client.createDirectory('l1', '/a/b'))
  expect(failure).toMatchObject({ kind: 'request', code: 'conflict' })
  expect(String(failure)).toContain(
    'Cannot create the directory "/a/b": the service answered 409 (conflict): A file is there',
  )
})

it('createDirectory survives a lost answer by asking again', async () => {
  await using server = await scripted({
    [`POST ${DIRECTORY}`]: [
      [0, undefined],
      [503, {}],
      [409, {}],
    ],
    [`GET ${DIRECTORY}`]: [[200, EMPTY_PAGE]],
  })
  await using client = clientOf(server.origin, { retry: RETRY })
  expect(await client.createDirectory('l1', '/a/b')).toBe('existing')
})

it('createDirectory sends name and parent where configured', async () => {
  await using server = await scripted({ [`POST ${DIRECTORY}`]: [[201, NODE]] })
  await using client = clientOf(server.origin, { contract: { createDirectory: { name: 'title', parent: 'under' } } })
  await client.createDirectory('l1', '/a/b')
  await client.createDirectory('l1', '/a')
  expect(server.calls.map(({ json }) => json)).toEqual([
    { title: 'b', under: '/a' },
    { title: 'a', under: '/' },
  ])
})

describe('listings', () => {
  it('the pages of a directory come in order', async () => {
    const first = { ...EMPTY_PAGE, next_cursor: 'c&1', truncated: true }
    await using server = await scripted({
      [`GET ${DIRECTORY}`]: [
        [200, first],
        [200, EMPTY_PAGE],
      ],
    })
    await using client = clientOf(server.origin)
    expect(await collect(client.listDirectory('l1', '/'))).toEqual([first, EMPTY_PAGE])
    expect(server.calls[1]?.url).toBe(`${DIRECTORY}?path=%2F&limit=500&cursor=c%261`)
  })

  it('every library of every page is listed', async () => {
    const item = (id: string) => ({ id, name: id, access: ['read'] })
    await using server = await scripted({
      'GET /api/v1/libraries': [
        [200, { items: [item('a')], limit: 500, next_cursor: 'x', truncated: true }],
        [200, { items: [item('b')], limit: 500, next_cursor: null, truncated: false }],
      ],
    })
    await using client = clientOf(server.origin)
    expect((await collect(client.listLibraries())).map(({ id }) => id)).toEqual(['a', 'b'])
  })
})

describe('libraries', () => {
  it('a library is created with name and overview', async () => {
    await using server = await scripted({ 'POST /api/v1/libraries': [[201, LIBRARY]] })
    await using client = clientOf(server.origin)
    expect(await client.createLibrary('Research', 'Papers')).toEqual(LIBRARY)
    await client.createLibrary('Research', null)
    expect(server.calls.map(({ json }) => json)).toEqual([
      { name: 'Research', overview: 'Papers' },
      { name: 'Research' },
    ])
  })

  it('a library is deleted only by 204', async () => {
    await using server = await scripted({
      'DELETE /api/v1/libraries/l1': [
        [204, undefined],
        [200, {}],
      ],
    })
    await using client = clientOf(server.origin)
    await client.deleteLibrary('l1')
    expect(await thrownBy(client.deleteLibrary('l1'))).toMatchObject({ code: 'answer-malformed' })
  })
})

describe('search and view URLs', () => {
  it('a search sends the given parameters and nothing else', async () => {
    await using server = await scripted({ 'GET /api/v1/search/resources': [[200, { notice: '', results: [] }]] })
    await using client = clientOf(server.origin)
    await client.searchResources({ query: 'a b', libraryIds: ['l1', 'l2'], strategy: 'lexical', limit: 3 })
    await client.searchResources({ query: 'a' })
    expect(server.calls.map(({ url }) => url?.split('?')[1])).toEqual([
      'query=a%20b&library_ids%5B%5D=l1&library_ids%5B%5D=l2&strategy=lexical&limit=3',
      'query=a',
    ])
  })

  it('a view URL is returned unchanged', async () => {
    const url = 'https://h/x?signature=a%2Fb&expires=1'
    await using server = await scripted({
      'POST /api/v1/resources/r1/view-urls': [[200, { url, expires_in_minutes: 5 }]],
      'POST /api/v1/assets/a1/view-urls': [[200, { url, representation: 'frame', expires_in_minutes: 5 }]],
    })
    await using client = clientOf(server.origin)
    expect((await client.createResourceViewUrl('r1', { ttlMinutes: 5 })).url).toBe(url)
    await client.createAssetViewUrl('a1', { representation: 'frame', timestampSeconds: 1.5 })
    expect(server.calls.map(({ json }) => json)).toEqual([
      { ttl_minutes: 5 },
      { representation: 'frame', timestamp_seconds: 1.5 },
    ])
  })
})

describe('downloads', () => {
  const bytes = Buffer.alloc(3_000_000, 'q')

  it('a download streams the original with its name', async () => {
    await using client = await clientOn({}, (request, answer) => {
      expect(request.headers['accept-encoding']).toBeUndefined()
      const disposition = `attachment; filename="plain.bin"; filename*=UTF-8''%C3%A4.bin`
      answer.writeHead(200, {
        'content-type': 'x/y',
        'content-length': bytes.length,
        'content-disposition': disposition,
      })
      answer.end(bytes)
    })
    const { body, ...facts } = await client.downloadResource('r1')
    expect(facts).toEqual({ sizeBytes: bytes.length, mime: 'x/y', fileName: 'ä.bin' })
    expect(Buffer.concat(await collect(body)).equals(bytes)).toBe(true)
  })

  it('a download fails when it is cut short', async () => {
    await using client = await clientOn({}, (_, answer) => {
      answer.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 1_000))
      setTimeout(() => answer.destroy(), 5)
    })
    const { body } = await client.downloadAsset('a1')
    expect(await thrownBy(body)).toMatchObject({ kind: 'temporary', code: 'service-unreachable' })
  })

  it('a download fails when it stalls [F-SV-05]', async () => {
    await using client = await clientOn(
      { timeouts: { requestMs: 60, uploadStallMs: 60 } },
      (_, answer) => void answer.writeHead(200).write('x'),
    )
    const { body } = await client.downloadRepresentation('a1', 'scene', 2)
    expect(await thrownBy(body)).toMatchObject({ kind: 'temporary', code: 'answer-late' })
  })

  it('a download fails when it only drips [F-SV-05]', async () => {
    const timeouts = { requestMs: 80, uploadStallMs: 80 }
    await using client = await clientOn({ clock: systemClock, timeouts }, (_, answer) => {
      const timer = setInterval(() => answer.write('x'), 5)
      answer.on('close', () => clearInterval(timer))
    })
    const { body } = await client.downloadAsset('a1')
    expect(await thrownBy(body)).toMatchObject({ kind: 'temporary', code: 'answer-late' })
  })

  it('a download continues as long as it moves', async () => {
    const timeouts = { requestMs: 200, uploadStallMs: 200 }
    await using client = await clientOn({ clock: systemClock, timeouts }, (_, answer) => {
      let left = 30
      const timer = setInterval(() => {
        answer.write(bytes.subarray(0, 2_000))
        left -= 1
        if (left === 0) answer.end()
      }, 10)
      answer.on('close', () => clearInterval(timer))
    })
    const { body } = await client.downloadAsset('a1')
    expect(Buffer.concat(await collect(body)).length).toBe(60_000)
  })

  it('a download slows down a faster service', async () => {
    let sentBytes = 0
    await using client = await clientOn({}, async (_, answer) => {
      for (; sentBytes < 64 << 20; sentBytes += bytes.length) {
        if (!answer.write(bytes)) await Promise.race([once(answer, 'drain'), once(answer, 'close')])
        if (answer.destroyed) return
      }
      answer.end()
    })
    const { body } = await client.downloadAsset('a1')
    for await (const _ of body) {
      for (let wait = 0; wait < 20; wait += 1) await turns()
      break
    }
    expect(sentBytes).toBeLessThan(32 << 20)
  })

  it('a download ends when it is aborted or left', async () => {
    let closed = 0
    await using client = await clientOn({}, (_, answer) => {
      answer.on('close', () => {
        closed += 1
      })
      answer.writeHead(200).write(bytes)
    })
    const abort = new AbortController()
    const { body } = await client.downloadAsset('a1', abort.signal)
    abort.abort()
    expect(await thrownBy(body)).toMatchObject({ kind: 'interrupted' })
    for await (const _ of (await client.downloadAsset('a1')).body) break
    while (closed < 2) await new Promise((resolve) => setImmediate(resolve))
  })

  it('a download explains why there is nothing', async () => {
    await using client = await clientOn({}, (_, answer) => answer.writeHead(404).end('{"message":"Gone"}'))
    expect(String(await thrownBy(client.downloadResource('r1')))).toContain('404 (not found): Gone')
  })
})

it('callRaw returns any answer of the service', async () => {
  await using server = await scripted({ 'PATCH /api/v1/notes/1': [[418, { tea: true }]] })
  await using client = clientOf(server.origin)
  const answer = await client.callRaw('patch', '/v1/notes/1?x=1', { a: 1 })
  expect(answer.status).toBe(418)
  expect(Buffer.from(answer.body).toString()).toBe('{"tea":true}')
  expect(server.calls).toEqual([{ method: 'PATCH', url: '/api/v1/notes/1?x=1', json: { a: 1 } }])
})

it.each([
  ['TRACE', '/v1/x'],
  ['GET', 'v1/x'],
  ['GET', '//evil.example/api/v1/x'],
  ['GET', '/api/../secret'],
  ['GET', '/../secret'],
  ['GET', '/%2e%2e/secret'],
  ['GET', 'http://evil.example/api/'],
])('callRaw stays below the interface: %s %s', async (method, path) => {
  let asked = 0
  await using client = await clientOn({}, (request, answer) => {
    asked += request.url?.startsWith('/api/') ? 0 : 1
    answer.end()
  })
  await client.callRaw(method, path, undefined).catch((error) => expect(error).toMatchObject({ code: 'bad-usage' }))
  expect(asked).toBe(0)
})

describe('limits', () => {
  it.each([
    ['this host', { requestsPerSecond: 10 }],
    ['each of three hosts', { requestsPerSecond: 30, hosts: () => 3 }],
  ])('the request limit spaces requests of %s evenly over time', async (_name, limits) => {
    const clock = jumpingClock()
    const arrivedMs: number[] = []
    await using client = await clientOn({ clock, limits }, (_, answer) => {
      arrivedMs.push(clock.monotonicMs())
      answer.end('{"id":"r1"}')
    })
    for (let call = 0; call < 31; call += 1) await client.showResource('l1', 'r1')
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(3_000)
    expect(clock.monotonicMs()).toBeLessThan(3_200)
  })

  it('the bandwidth limit slows uploads down', async () => {
    const clock = jumpingClock()
    const limits = { requestsPerSecond: 0, bytesPerSecond: () => 100_000 }
    await using client = await clientOn({ clock, limits }, (request, answer) => {
      request.resume().on('end', () => answer.writeHead(201).end('{"id":"r1"}'))
    })
    const upload = { libraryId: 'l', fileName: 'a', mime: 'x/y', sizeBytes: 500_000, directoryPath: '/' }
    await client.uploadFile({ ...upload, openBody: () => Buffer.alloc(500_000) })
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(4_800)
    expect(clock.monotonicMs()).toBeLessThan(5_200)
  })

  it('a bandwidth limit that changes holds for the rest of an upload under way', async () => {
    const clock = jumpingClock()
    // Without a limit at first, then 100 kB in a second once a half has left.
    let left = 0
    const limits = { requestsPerSecond: 0, bytesPerSecond: () => (left < 250_000 ? 0 : 100_000) }
    await using client = await clientOn({ clock, limits }, (request, answer) => {
      request.resume().on('end', () => answer.writeHead(201).end('{"id":"r1"}'))
    })
    const upload = { libraryId: 'l', fileName: 'a', mime: 'x/y', sizeBytes: 500_000, directoryPath: '/' }
    async function* body() {
      for (; left < 500_000; left += 10_000) yield Buffer.alloc(10_000)
    }
    await client.uploadFile({ ...upload, openBody: () => body() })
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(2_300)
    expect(clock.monotonicMs()).toBeLessThan(2_700)
  })
})
