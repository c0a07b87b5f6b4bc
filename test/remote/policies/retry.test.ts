import type { IncomingMessage, RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import { RetryAfter } from '../../../src/remote/retry-after.ts'
import {
  clientOf,
  clientOn,
  heldClock,
  jumpingClock,
  serve,
  serveSockets,
  type TestClock,
  thrownBy,
  turns,
} from '../support.ts'

const RETRY = { attempts: 4, firstDelayMs: 100, maxDelayMs: 1_000 }

/** A listener that answers with each of `steps` in turn, then with a resource. */
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
  await using client = await clientOn({ retry: RETRY, clock }, listener)
  return await client.showResource('lib', 'r1')
}

describe('retries', () => {
  it.each<[string, RequestListener]>([
    ['429', status(429)],
    ['500', status(500)],
    ['502', status(502)],
    ['503', status(503)],
    ['504', status(504)],
    ['408', status(408)],
    ['a reset', (request) => request.socket.destroy()],
    ['HTML', (_, answer) => answer.end('<html>')],
  ])('a transient failure is tried again: %s [F-SV-12]', async (_, step) => {
    const listener = sequence(step, step)
    expect(await show(listener)).toEqual({ id: 'r1' })
    expect(listener.count).toBe(3)
  })

  it.each([
    [429, 'service-throttling'],
    [503, 'service-unavailable'],
  ])('a transient failure ends after its attempts as temporary: %i [P21]', async (code, expected) => {
    const always = sequence(...Array.from({ length: 9 }, () => status(code)))
    expect(await thrownBy(show(always))).toMatchObject({ kind: 'temporary', code: expected })
    expect(always.count).toBe(RETRY.attempts)
  })

  it('a refused connection ends as unreachable [F-SV-01]', async () => {
    const clock = jumpingClock()
    await using client = clientOf('http://127.0.0.1:1', { retry: RETRY, clock })
    const failure = await thrownBy(client.checkAccess())
    expect(failure).toMatchObject({ kind: 'temporary', code: 'service-unreachable' })
    expect(String(failure)).toContain('http://127.0.0.1:1: the service cannot be reached (connection refused)')
  })

  it('the delay grows from try to try [F-SV-12]', async () => {
    const clock = jumpingClock()
    await thrownBy(show(sequence(...Array.from({ length: 9 }, () => status(500))), clock))
    expect(clock.sleptMs).toEqual([75, 150, 300])
  })

  it.each([400, 401, 403, 404, 422])('a final refusal is not tried again: %i', async (code) => {
    const listener = sequence(status(code), status(code))
    await thrownBy(show(listener))
    expect(listener.count).toBe(1)
  })

  it('an abort ends the delay', async () => {
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
    expect(await thrownBy(client.checkAccess(abort.signal))).toMatchObject({ kind: 'interrupted' })
  })
})

describe('changes that may have happened', () => {
  it('a library is not created twice', async () => {
    const listener = sequence((request) => request.socket.destroy())
    await using client = await clientOn({ retry: RETRY }, listener)
    expect(await thrownBy(client.createLibrary('Research', null))).toMatchObject({ kind: 'temporary' })
    expect(listener.count).toBe(1)
  })

  it('a library is not deleted twice', async () => {
    for (const step of [status(503), status(200), (request: IncomingMessage) => request.socket.destroy()]) {
      const listener = sequence(step)
      await using client = await clientOn({ retry: RETRY }, listener)
      expect(await thrownBy(client.deleteLibrary('lib'))).toMatchObject({ kind: 'temporary' })
      expect(listener.count).toBe(1)
    }
  })

  it('a library is created again after 429', async () => {
    const record = { id: 'l', name: 'Research', overview: null, created_at: 'x', updated_at: 'x' }
    const listener = sequence(status(429), (_, answer) => answer.writeHead(201).end(JSON.stringify(record)))
    await using client = await clientOn({ retry: RETRY }, listener)
    expect(await client.createLibrary('Research', null)).toEqual(record)
  })
})

describe('Retry-After', () => {
  const date = (ms: number) => new Date(ms).toUTCString()

  it.each<[string, (nowMs: number) => Record<string, string>]>([
    ['seconds', () => ({ 'retry-after': '90' })],
    ['a date', (nowMs) => ({ date: '', 'retry-after': date(nowMs + 90_000) })],
    ["a date by the service's own clock", () => ({ date: date(0), 'retry-after': date(90_000) })],
  ])('Retry-After is a lower bound for all requests: %s [P21, F-SV-11]', async (_, headers) => {
    const clock = heldClock()
    let arrived = 0
    await using client = await clientOn({ clock, retry: RETRY }, (_request, answer) => {
      arrived += 1
      if (arrived === 1) answer.writeHead(429, headers(clock.nowMs())).end()
      else answer.end('{"id":"r1"}')
    })
    const show = () => client.showResource('lib', 'r1')
    const calls = [show()]
    while (clock.sleepers === 0) await turns()
    calls.push(show(), show(), show())
    await clock.advanceTo(89_999)
    expect(arrived).toBe(1)
    while (arrived < 5) await clock.advanceTo(clock.monotonicMs() + 500)
    expect(await Promise.all(calls)).toHaveLength(4)
  })

  it('Retry-After outlasts answers to requests sent before [P21]', async () => {
    const clock = heldClock()
    const asked: string[] = []
    let finishSlow = () => {}
    await using client = await clientOn({ clock, retry: RETRY }, (request, answer) => {
      asked.push(request.url?.split('/').at(-1) ?? '')
      if (asked.at(-1) === 'slow') finishSlow = () => answer.end('{"id":"slow"}')
      else if (asked.length === 2) answer.writeHead(503, { 'retry-after': '60' }).end()
      else answer.end(JSON.stringify({ id: asked.at(-1) }))
    })
    const slow = client.showResource('lib', 'slow')
    while (asked.length < 1) await turns()
    const throttled = client.showResource('lib', 'first')
    while (clock.sleepers === 0) await turns()
    finishSlow()
    await slow
    const other = client.showResource('lib', 'second')
    await clock.advanceTo(59_999)
    expect(asked).toEqual(['slow', 'first'])
    while (asked.length < 4) await clock.advanceTo(clock.monotonicMs() + 500)
    await Promise.all([throttled, other])
  })

  it('Retry-After holds for the clients beside and after [P21]', async () => {
    const clock = heldClock()
    const asked = new RetryAfter(clock)
    const listener = sequence(status(429, { 'retry-after': '7' }))
    await using server = await serve(listener)
    await using beside = clientOf(server.origin, { clock, retry: RETRY, retryAfter: asked })
    {
      await using first = clientOf(server.origin, { clock, retry: { ...RETRY, attempts: 1 }, retryAfter: asked })
      expect(await thrownBy(first.showResource('lib', 'r1'))).toMatchObject({ code: 'service-throttling' })
    }
    await clock.advanceTo(3_000)
    await using after = clientOf(server.origin, { clock, retry: RETRY, retryAfter: asked })
    const calls = [beside, after].map((client) => client.showResource('lib', 'r1'))
    while (clock.sleepers < 2) await turns()
    await clock.advanceTo(6_999)
    expect(listener.count).toBe(1)
    await clock.advanceTo(7_000)
    expect(await Promise.all(calls)).toHaveLength(2)
  })

  it('the delay grows once however many requests were throttled [P21]', async () => {
    const clock = heldClock()
    let arrived = 0
    await using client = await clientOn({ clock, retry: RETRY }, (_request, answer) => {
      arrived += 1
      if (arrived <= 4) answer.writeHead(429).end()
      else answer.end('{"id":"r1"}')
    })
    const calls = Array.from({ length: 4 }, () => client.showResource('lib', 'r1'))
    while (clock.sleepers < 4) await turns()
    for (const atMs of [80, 85, 90]) await clock.advanceTo(atMs)
    await Promise.all(calls)
    expect(arrived).toBe(8)
  })

  it('a Retry-After beyond a day is not waited for', async () => {
    const clock = jumpingClock()
    await using client = await clientOn({ clock, retry: RETRY }, status(429, { 'retry-after': '99999999999' }))
    for (let call = 0; call < 2; call += 1) {
      expect(await thrownBy(client.checkAccess())).toMatchObject({ code: 'service-throttling' })
    }
    expect(clock.sleptMs).toEqual([])
  })
})

it('an unreachable service is probed by one request for all [F-SV-01]', async () => {
  let connections = 0
  await using server = await serveSockets((socket, bytes) => {
    if (bytes.includes('good')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"id":"good"}')
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
