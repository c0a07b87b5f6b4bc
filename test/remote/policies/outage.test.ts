import type { RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import type { Outage } from '../../../src/remote/policies/outage.ts'
import { RetryAfter } from '../../../src/remote/retry-after.ts'
import {
  clientOf,
  clientOn,
  HELLO,
  type HeldClock,
  heldClock,
  jumpingClock,
  serve,
  serveSockets,
  thrownBy,
  turns,
  uploadOf,
} from '../support.ts'

const RETRY = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 1_000, maxDelayMs: 4_000, forMs: 10_000 }
const NOW_MS = Date.UTC(2030, 0, 1)

function collector() {
  const outages: (Outage | null)[] = []
  return { outages, onOutage: (outage: Outage | null) => void outages.push(outage) }
}

describe('an outage', () => {
  it('an outage is reported with each try, and when it is over', async () => {
    let asked = 0
    await using server = await serve((_, answer) => {
      asked += 1
      if (asked < 3) answer.writeHead(503).end()
      else answer.end('{"id":"r1"}')
    })
    const { outages, onOutage } = collector()
    await using client = clientOf(server.origin, { retry: RETRY, clock: jumpingClock(), onOutage })
    await client.showResource('lib', 'r1')
    const common = { origin: server.origin, code: 'service-unavailable', cause: '503, service unavailable' }
    expect(outages).toEqual([
      expect.objectContaining({ ...common, sinceMs: NOW_MS, nextTryAtMs: NOW_MS + 750, givesUpAtMs: NOW_MS + 10_000 }),
      expect.objectContaining({ ...common, sinceMs: NOW_MS, nextTryAtMs: NOW_MS + 2_250 }),
      null,
    ])
  })

  it('an answer of any kind is no outage', async () => {
    const { outages, onOutage } = collector()
    await using client = await clientOn({ retry: RETRY, clock: jumpingClock(), onOutage }, (_, answer) =>
      answer.writeHead(404).end('{}'),
    )
    expect(await thrownBy(client.showResource('lib', 'r1'))).toMatchObject({ code: 'not-found' })
    expect(outages).toEqual([])
  })

  it('an outage ends the tries at the deadline, with a last one then', async () => {
    const clock = jumpingClock()
    await using client = clientOf('http://127.0.0.1:1', { retry: RETRY, clock })
    expect(await thrownBy(client.checkAccess())).toMatchObject({ code: 'service-unreachable' })
    expect(clock.monotonicMs()).toBe(RETRY.forMs)
  })

  it.each([
    ['the count of tries', { ...RETRY, attempts: 4, maxDelayMs: 2_000 }, null],
    ['the deadline', { ...RETRY, attempts: 6 }, NOW_MS + 10_000],
  ] as const)('an outage names what ends its tries: %s', async (_, retry, givesUpAtMs) => {
    const clock = jumpingClock()
    const { outages, onOutage } = collector()
    await using client = clientOf('http://127.0.0.1:1', { retry, clock, onOutage })
    await thrownBy(client.checkAccess())
    expect(outages.map((outage) => outage?.givesUpAtMs)).toEqual(outages.map(() => givesUpAtMs))
    if (givesUpAtMs !== null) expect(clock.monotonicMs()).toBe(RETRY.forMs)
    else expect(outages).toHaveLength(3)
  })

  /** A listener that throttles `times` requests, then answers. */
  function throttling(times: number, seconds: string) {
    const seen = { asked: 0 }
    const listener: RequestListener = (_, answer) => {
      seen.asked += 1
      if (seen.asked <= times) answer.writeHead(429, { 'retry-after': seconds }).end()
      else answer.end('{"id":"r1"}')
    }
    return { seen, listener }
  }

  it('a requested wait within the deadline is kept', async () => {
    const { seen, listener } = throttling(2, '4')
    const { outages, onOutage } = collector()
    await using client = await clientOn({ retry: RETRY, clock: jumpingClock(), onOutage }, listener)
    await client.showResource('lib', 'r1')
    expect(outages[0]).toMatchObject({ askedUntilMs: NOW_MS + 4_000, givesUpAtMs: NOW_MS + 10_000 })
    expect(outages[1]).toMatchObject({ givesUpAtMs: NOW_MS + 10_000 })
    expect(seen.asked).toBe(3)
  })

  it('repeated waits end at the first deadline', async () => {
    const { seen, listener } = throttling(99, '4')
    const clock = jumpingClock()
    await using client = await clientOn({ retry: { ...RETRY, forWords: '--retry-for 10s' }, clock }, listener)
    expect(String(await thrownBy(client.checkAccess()))).toMatch(
      /429 .*; it asks to wait until \d\d:\d\d:\d\d, which is beyond --retry-for 10s; run the command again after that time$/,
    )
    expect(clock.monotonicMs()).toBeLessThanOrEqual(RETRY.forMs)
    expect(seen.asked).toBeGreaterThan(1)
  })

  it('a requested wait beyond the deadline ends all calls at once', async () => {
    const { seen, listener } = throttling(99, '40')
    const clock = jumpingClock()
    await using client = await clientOn({ retry: RETRY, clock }, listener)
    for (let call = 0; call < 3; call += 1) {
      expect(await thrownBy(client.checkAccess())).toMatchObject({ kind: 'temporary', code: 'service-throttling' })
    }
    expect(seen.asked).toBe(1)
    expect(clock.sleptMs).toEqual([])
  })

  it('the deadline counts the time that other requests made it wait', async () => {
    const clock = heldClock()
    const { seen, listener } = throttling(99, '8')
    await using client = await clientOn({ retry: RETRY, clock }, listener)
    const first = thrownBy(client.checkAccess())
    while (clock.sleepers === 0) await turns()
    const second = thrownBy(client.checkAccess())
    while (clock.sleepers === 1) await turns()
    for (let atMs = 0; atMs <= RETRY.forMs; atMs += 500) await clock.advanceTo(atMs)
    for (const error of [await first, await second]) expect(error).toMatchObject({ code: 'service-throttling' })
    expect(seen.asked).toBeLessThanOrEqual(3)
  })

  it('a daemon waits as long as the service asks', async () => {
    const { listener } = throttling(20, '600')
    const clock = jumpingClock()
    const retry = { ...RETRY, attempts: 8, waitsOutRetryAfter: true }
    await using client = await clientOn({ retry, clock }, listener)
    expect(await client.showResource('lib', 'r1')).toEqual({ id: 'r1' })
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(20 * 600_000)
  })

  it('a wait kept from before is reported once and waited for', async () => {
    const { listener } = throttling(0, '')
    const clock = jumpingClock()
    const { outages, onOutage } = collector()
    const asked = new RetryAfter(clock, { remainingMs: 4_000 })
    await using client = await clientOn({ retry: RETRY, clock, onOutage, retryAfter: asked }, listener)
    await Promise.all([client.showResource('lib', 'r1'), client.showResource('lib', 'r1')])
    const times = { sinceMs: NOW_MS, nextTryAtMs: NOW_MS + 4_000, givesUpAtMs: NOW_MS + 10_000 }
    expect(outages).toEqual([
      expect.objectContaining({ code: 'service-throttling', askedUntilMs: NOW_MS + 4_000, ...times }),
      null,
    ])
    expect(clock.monotonicMs()).toBe(4_000)
  })

  it('a wait kept from before ends at once when beyond the deadline', async () => {
    const { seen, listener } = throttling(0, '')
    const clock = jumpingClock()
    const retry = { ...RETRY, forWords: '--retry-for 10s' }
    const asked = new RetryAfter(clock, { remainingMs: 11_000 })
    await using client = await clientOn({ retry, clock, retryAfter: asked }, listener)
    expect(String(await thrownBy(client.checkAccess()))).toMatch(
      /; it asks to wait until \d\d:\d\d:\d\d, which is beyond --retry-for 10s; run the command again after that time$/,
    )
    expect(seen.asked).toBe(0)
    expect(clock.sleptMs).toEqual([])
  })

  it('a requested wait above the longest one ends at once', async () => {
    const clock = jumpingClock()
    await using client = await clientOn({ retry: { ...RETRY, longestRetryAfterMs: 60_000 }, clock }, (_, answer) =>
      answer.writeHead(503, { 'retry-after': '600' }).end(),
    )
    expect(String(await thrownBy(client.checkAccess()))).toMatch(
      /503 .*; it asks to wait until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d/,
    )
    expect(clock.sleptMs).toEqual([])
  })
})

describe('a try at the deadline', () => {
  it.each(['http', 'https'])('a try is cut at the deadline: %s', async (scheme) => {
    // Over https the try hangs before it has a connection.
    await using server = await serveSockets(() => {})
    const origin = server.origin.replace('http', scheme)
    await using client = clientOf(origin, { retry: { ...RETRY, forMs: 800 }, clock: systemClock })
    const tries = [client.checkAccess(), client.createLibrary('Research', null)]
    const code = scheme === 'http' ? 'answer-late' : 'service-unreachable'
    for (const error of await Promise.all(tries.map(thrownBy))) expect(error).toMatchObject({ code })
  })

  it('a try without a connection is cut at the deadline, also where an answer has less time', async () => {
    await using server = await serveSockets(() => {})
    const timeouts = { requestMs: 100, uploadStallMs: 100 }
    const options = { retry: { ...RETRY, forMs: 300 }, clock: systemClock, timeouts }
    await using client = clientOf(server.origin.replace('http', 'https'), options)
    expect(await thrownBy(client.checkAccess())).toMatchObject({ code: 'service-unreachable' })
    // Without the cut the connector gives up after 10 s.
  }, 8_000)

  it('an upload is not cut at the deadline', async () => {
    await using client = await clientOn({ retry: { ...RETRY, forMs: 1 }, clock: systemClock }, (request, answer) => {
      request.resume().on('end', () => {
        setTimeout(() => answer.writeHead(201).end('{"id":"r1","duplicate":false}'), 1_100)
      })
    })
    expect(await client.uploadFile(uploadOf(HELLO))).toMatchObject({ id: 'r1' })
  })
})

/** Lets time pass until `isSo`. */
async function pass(clock: HeldClock, isSo: () => boolean): Promise<void> {
  while (!isSo()) await clock.advanceTo(clock.monotonicMs() + 100)
}

it('silence is reported before anything failed', async () => {
  const clock = heldClock()
  const { outages, onOutage } = collector()
  let hasArrived = false
  await using server = await serveSockets(() => {
    hasArrived = true
  })
  await using client = clientOf(server.origin, { retry: RETRY, clock, onOutage })
  const abort = new AbortController()
  const asking = thrownBy(client.checkAccess(abort.signal))
  while (!hasArrived) await turns()
  await clock.advanceTo(2_499)
  expect(outages).toEqual([])
  await clock.advanceTo(2_500)
  expect(outages).toEqual([
    {
      origin: server.origin,
      code: 'answer-late',
      cause: 'no answer yet for 3 s',
      sinceMs: NOW_MS,
      nextTryAtMs: null,
      givesUpAtMs: NOW_MS + RETRY.forMs,
      askedUntilMs: null,
    },
  ])
  abort.abort()
  await asking
})

/** A listener that answers at once, except that requests for `slow` wait until the test answers. */
function keeping() {
  const waiting: (() => void)[] = []
  const listener: RequestListener = (request, answer) => {
    const id = request.url?.split('/').at(-1)
    const end = () => answer.end(JSON.stringify({ id }))
    if (id === 'slow') waiting.push(end)
    else end()
  }
  const answerNext = async () => {
    while (waiting.length === 0) await turns()
    waiting.shift()?.()
  }
  return { waiting, listener, answerNext }
}

it('a slow answer is no silence while others are answered', async () => {
  const clock = heldClock()
  const { outages, onOutage } = collector()
  const { waiting, listener, answerNext } = keeping()
  await using client = await clientOn({ retry: RETRY, clock, onOutage }, listener)
  const slow = client.showResource('lib', 'slow')
  while (waiting.length === 0) await turns()
  for (const atMs of [2_000, 4_000, 6_000]) {
    await clock.advanceTo(atMs)
    await client.showResource('lib', 'quick')
  }
  await answerNext()
  await slow
  expect(outages).toEqual([])
})

it('a slow service reports silence only the first time', async () => {
  const clock = heldClock()
  const { outages, onOutage } = collector()
  const { waiting, listener, answerNext } = keeping()
  await using client = await clientOn({ retry: RETRY, clock, onOutage }, listener)
  for (const known of [1, 2]) {
    const slow = client.showResource('lib', 'slow')
    while (waiting.length === 0) await turns()
    await clock.advanceTo(clock.monotonicMs() + 4_000)
    await answerNext()
    await slow
    expect(outages, `after ${known}`).toHaveLength(2)
    expect(outages.at(-1)).toBeNull()
  }
})

it('an upload is not silence while its size explains the wait', async () => {
  const clock = heldClock()
  const { outages, onOutage } = collector()
  const arrived: (() => void)[] = []
  await using client = await clientOn({ retry: RETRY, clock, onOutage }, (request, answer) => {
    request.resume().on('end', () => arrived.push(() => answer.writeHead(201).end('{"id":"r1","duplicate":false}')))
  })
  const sizeBytes = 4 << 20
  const sending = client.uploadFile(uploadOf(() => Buffer.alloc(sizeBytes), { sizeBytes })).catch(() => {})
  while (arrived.length === 0) await turns()
  await clock.advanceTo(2_500 + 4_095)
  expect(outages).toEqual([])
  await pass(clock, () => outages.length > 0)
  expect(outages).toEqual([expect.objectContaining({ code: 'answer-late' })])
  for (const answer of arrived) answer()
  await sending
})
