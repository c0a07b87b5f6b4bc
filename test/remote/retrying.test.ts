import type { RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import { clientOf, jumpingClock, serve, serveSockets, type TestClock, thrownBy } from './support.ts'

const RETRY = { attempts: 4, firstPauseMs: 100, maxPauseMs: 1_000 }

/** Answers with each of `steps` in turn, then with a resource. */
function sequence(...steps: RequestListener[]): RequestListener & { count: number } {
  const listener: RequestListener & { count: number } = (request, answer) => {
    const step = steps[listener.count]
    listener.count += 1
    if (step) step(request, answer)
    else answer.end('{"id":"r1"}')
  }
  listener.count = 0
  return listener
}

function status(code: number, headers: Record<string, string> = {}): RequestListener {
  return (_, answer) => answer.writeHead(code, headers).end()
}

async function show(listener: RequestListener, clock: TestClock = jumpingClock()) {
  await using server = await serve(listener)
  await using client = clientOf(server.origin, { retry: RETRY, clock })
  return await client.showResource('lib', 'r1')
}

describe('what another try may mend', () => {
  it.each<[string, RequestListener]>([
    ['429', status(429)],
    ['500', status(500)],
    ['502', status(502)],
    ['503', status(503)],
    ['504', status(504)],
    ['408', status(408)],
    ['a reset', (request) => request.socket.destroy()],
    ['HTML', (_, answer) => answer.end('<html>')],
  ])('is tried again: %s', async (_, step) => {
    const listener = sequence(step, step)
    expect(await show(listener)).toEqual({ id: 'r1' })
    expect(listener.count).toBe(3)
  })

  it.each([
    [429, 'service-throttling'],
    [503, 'service-unavailable'],
  ])('ends after its attempts as temporary: %i', async (code, expected) => {
    const always = sequence(...Array.from({ length: 9 }, () => status(code)))
    expect(await thrownBy(show(always))).toMatchObject({ reaction: 'temporary', code: expected })
    expect(always.count).toBe(RETRY.attempts)
  })

  it('ends as unreachable when nobody listens', async () => {
    const clock = jumpingClock()
    await using client = clientOf('http://127.0.0.1:1', { retry: RETRY, clock })
    const failure = await thrownBy(client.checkAccess())
    expect(failure).toMatchObject({ reaction: 'temporary', code: 'service-unreachable' })
    expect(String(failure)).toContain('ECONNREFUSED')
  })

  it('pauses longer from try to try', async () => {
    const clock = jumpingClock()
    await thrownBy(show(sequence(...Array.from({ length: 9 }, () => status(500))), clock))
    expect(clock.sleptMs).toEqual([75, 150, 300])
  })

  it.each([400, 401, 403, 404, 422])('does not try a final no again: %i', async (code) => {
    const listener = sequence(status(code), status(code))
    await thrownBy(show(listener))
    expect(listener.count).toBe(1)
  })

  it('stops pausing when it is aborted', async () => {
    await using server = await serve(status(503))
    const abort = new AbortController()
    const clock = jumpingClock()
    const stuck = {
      ...clock,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
          abort.abort()
        }),
    }
    await using client = clientOf(server.origin, { clock: stuck })
    expect(await thrownBy(client.checkAccess(abort.signal))).toMatchObject({ reaction: 'interrupted' })
  })
})

describe('what was possibly done', () => {
  it('does not create a library twice', async () => {
    const listener = sequence((request) => request.socket.destroy())
    await using server = await serve(listener)
    await using client = clientOf(server.origin, { retry: RETRY })
    expect(await thrownBy(client.createLibrary('Research', null))).toMatchObject({ reaction: 'temporary' })
    expect(listener.count).toBe(1)
  })

  it('does not delete a library twice', async () => {
    const listener = sequence(status(503))
    await using server = await serve(listener)
    await using client = clientOf(server.origin, { retry: RETRY })
    expect(await thrownBy(client.deleteLibrary('lib'))).toMatchObject({ code: 'service-unavailable' })
    expect(listener.count).toBe(1)
  })

  it('creates a library again after 429', async () => {
    const record = { id: 'l', name: 'Research', overview: null, created_at: 'x', updated_at: 'x' }
    const listener = sequence(status(429), (_, answer) => answer.writeHead(201).end(JSON.stringify(record)))
    await using server = await serve(listener)
    await using client = clientOf(server.origin, { retry: RETRY })
    expect(await client.createLibrary('Research', null)).toEqual(record)
  })
})

describe('Retry-After', () => {
  const date = (ms: number) => new Date(ms).toUTCString()

  it.each<[string, number, (clock: TestClock) => Record<string, string>]>([
    ['seconds', 90_000, () => ({ 'retry-after': '90' })],
    ['a date', 90_000, (clock) => ({ date: '', 'retry-after': date(clock.nowMs() + 90_000) })],
    ["a date by the service's own clock", 90_000, () => ({ date: date(0), 'retry-after': date(90_000) })],
  ])('is a lower bound for everybody: %s', async (_, boundMs, headers) => {
    const clock = jumpingClock()
    const arrivedMs: number[] = []
    await using server = await serve((_request, answer) => {
      arrivedMs.push(clock.monotonicMs())
      if (arrivedMs.length === 1) answer.writeHead(429, headers(clock)).end()
      else answer.end('{"id":"r1"}')
    })
    await using client = clientOf(server.origin, { clock, retry: RETRY })
    const first = client.showResource('lib', 'r1')
    while (clock.sleptMs.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const others = Array.from({ length: 5 }, () => client.showResource('lib', 'r1'))
    await Promise.all([first, ...others])
    expect(arrivedMs).toHaveLength(7)
    expect(Math.min(...arrivedMs.slice(1))).toBeGreaterThanOrEqual(boundMs)
  })

  it('outlasts answers to requests sent before', async () => {
    const clock = jumpingClock()
    const arrivedMs: number[] = []
    let finishSlow = () => {}
    await using server = await serve((request, answer) => {
      arrivedMs.push(clock.monotonicMs())
      if (request.url?.endsWith('slow')) finishSlow = () => answer.end('{"id":"slow"}')
      else if (arrivedMs.length === 2) answer.writeHead(503, { 'retry-after': '60' }).end()
      else answer.end('{"id":"r1"}')
    })
    await using client = clientOf(server.origin, { clock, retry: RETRY })
    const slow = client.showResource('lib', 'slow')
    while (arrivedMs.length < 1) await new Promise((resolve) => setImmediate(resolve))
    const throttled = client.showResource('lib', 'r1')
    while (clock.sleptMs.length === 0) await new Promise((resolve) => setImmediate(resolve))
    finishSlow()
    await slow
    await Promise.all([throttled, client.showResource('lib', 'r2')])
    expect(Math.min(...arrivedMs.slice(2))).toBeGreaterThanOrEqual(60_000)
  })

  it('is not waited for beyond a day', async () => {
    const clock = jumpingClock()
    await using server = await serve(status(429, { 'retry-after': '99999999999' }))
    await using client = clientOf(server.origin, { clock, retry: RETRY })
    for (let call = 0; call < 2; call += 1) {
      expect(await thrownBy(client.checkAccess())).toMatchObject({ code: 'service-throttling' })
    }
    expect(clock.sleptMs).toEqual([])
  })
})

describe('an unreachable service', () => {
  it('is probed by one request for all', async () => {
    let connections = 0
    await using server = await serveSockets((socket, bytes) => {
      if (bytes.includes('good')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"id":"r1"}')
    })
    const clock = jumpingClock()
    let up = false
    const { Pool, Client } = await import('undici')
    const dispatcher = new Pool(server.origin, {
      connections: 8,
      factory: (origin, options) => {
        connections += 1
        return new Client(up ? origin : 'http://127.0.0.1:1', options)
      },
    })
    await using client = clientOf(server.origin, { clock, retry: { ...RETRY, attempts: 3 }, dispatcher })
    expect(await thrownBy(client.showResource('lib', 'good'))).toMatchObject({ code: 'service-unreachable' })
    connections = 0
    const failures = await Promise.all(Array.from({ length: 8 }, () => thrownBy(client.showResource('lib', 'good'))))
    expect(failures).toEqual(Array(8).fill(expect.objectContaining({ code: 'service-unreachable' })))
    expect(connections).toBeLessThanOrEqual(4)
    up = true
    expect(await Promise.all(Array.from({ length: 8 }, () => client.showResource('lib', 'good')))).toHaveLength(8)
    await dispatcher.close()
  })
})
