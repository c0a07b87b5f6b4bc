import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { INGESTION_STATUSES } from '../../../src/contract/states.ts'
import { type Clock, systemClock } from '../../../src/foundation/clock.ts'
import type { ServiceClient } from '../../../src/remote/service-client.ts'
import { IngestionFollower } from '../../../src/sync/ingestion/follow-ingestion.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../../support/temporary.ts'

const HOUR_MS = 3_600_000

/** A clock whose sleeps take no time. */
function virtualClock(): Clock & { elapsedMs(): number } {
  let nowMs = 0
  let sleeps = 0
  return {
    nowMs: () => 1_700_000_000_000 + Math.floor(nowMs),
    monotonicMs: () => nowMs,
    startTimer: systemClock.startTimer,
    sleep: async (durationMs, signal) => {
      sleeps += 1
      // Requests under way can continue.
      if (sleeps % 16 === 0) await new Promise(setImmediate)
      signal?.throwIfAborted()
      nowMs += durationMs
    },
    elapsedMs: () => nowMs,
  }
}

/** The client with every resource in this state. */
function inState(status: () => unknown) {
  return (client: ServiceClient): ServiceClient => ({
    ...client,
    pollResource: async (_, id) => ({ id, ingestion_status: status() }),
  })
}

test('a resource that runs for 10,000 hours is sent once and polled to its end [P5]', async () => {
  await using service = await startFaultyService()
  const stateDir = temporaryDirectory()
  const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'slow.md': 'slow' }))
  const clock = virtualClock()
  let status = 'running'
  let polls = 0
  const wrapClient = inState(() => {
    polls += 1
    return status
  })
  const pollIntervals = { firstPollMs: 2_000, maxPollMs: HOUR_MS / 4 }
  for (let run = 1; run <= 4; run += 1) {
    await using tested = openTestEngine(service, { stateDir, clock, wrapClient, pollIntervals })
    const result = await tested.sync([mirror], { waitMs: 50 * HOUR_MS })
    await clock.sleep(2_450 * HOUR_MS)
    expect(result.outcome).toBe('pending')
    expect(accountOf(result).ingestion).toMatchObject({ pending: 1, searchable: 0 })
    expect(tested.store.contents.get(1)?.resourceId).toMatch(/./)
  }
  expect(clock.elapsedMs()).toBeGreaterThanOrEqual(10_000 * HOUR_MS)
  expect(polls).toBeGreaterThan(100)
  status = 'completed'
  await using tested = openTestEngine(service, { stateDir, clock, wrapClient, pollIntervals })
  const last = await tested.sync([mirror])
  expect(last.outcome).toBe('done')
  expect(accountOf(last).ingestion).toMatchObject({ pending: 0, searchable: 1 })
  expect(service.count('uploadFile')).toBe(1)
})

describe('the status of an ingestion', () => {
  const anything = fc.oneof(
    fc.constantFrom(...INGESTION_STATUSES),
    fc.string(),
    fc.constantFrom('Completed', 'completed ', 'done', '', 'toString', '__proto__', 'complete\u0000d'),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.array(fc.constant('completed'), { maxLength: 2 }),
    fc.object(),
  )

  test('a resource is searchable for two statuses only [P6, F-SV-20]', async () => {
    const statuses = fc.sample(anything, { numRuns: 120, seed: 6 })
    const given = new Map<string, unknown>()
    const wrapClient = (client: ServiceClient): ServiceClient => ({
      ...client,
      pollResource: async (_, id) => {
        if (!given.has(id)) given.set(id, statuses[given.size])
        return { id, ingestion_status: given.get(id) }
      },
    })
    const { tested, mirror } = await startEngine(manyFiles(120, 120), { wrapClient })
    const result = await tested.sync([mirror], { waitMs: 1_000 })
    const none = { searchable: 0, warnings: 0, partial: 0, failed: 0, pending: 0, unknown: 0 }
    const copies = { searchable: 0, pending: 0 }
    const expected = { ...none, warning: null, withoutText: 0, withoutTextKinds: {}, copies }
    for (const status of given.values()) {
      if (status === 'completed' || status === 'completed_with_warnings') expected.searchable += 1
      else if (status === 'partial' || status === 'failed') expected[status] += 1
      else if (status === 'running' || status === 'not_started') expected.pending += 1
      else expected.unknown += 1
      if (status === 'completed_with_warnings') expected.warnings += 1
    }
    expect(given.size).toBe(120)
    expect(accountOf(result).ingestion).toEqual(expected)
    expect(result.outcome).toBe('failures')
  })

  test('an unknown status is reported bounded and escaped [P6, F-SV-20, S-08]', async () => {
    const wrapClient = inState(() => `\u001b[31m${'x'.repeat(10_000)}`)
    const { tested, mirror } = await startEngine({ 'a.md': 'A' }, { wrapClient })
    const [problem] = accountOf(await tested.sync([mirror])).problems
    expect(problem?.code).toBe('ingestion-unknown')
    expect(problem?.message).not.toContain('\u001b')
    expect(problem?.message.length).toBeLessThan(200)
  })

  test('a resource that is gone (404) is never sent again [F-SV-08]', async () => {
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A' })
    service.answer = ({ route }) => (route === 'showResource' ? { status: 404, body: { message: 'gone' } } : undefined)
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    expect(service.count('uploadFile')).toBe(1)
  })

  test('a failed resource may still complete at a later poll', async () => {
    const clock = virtualClock()
    let status = 'failed'
    const { service, tested, mirror } = await startEngine({ 'a.md': 'A' }, { clock, wrapClient: inState(() => status) })
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    status = 'completed'
    await clock.sleep(25 * HOUR_MS)
    const later = await tested.sync([mirror])
    expect(later.outcome).toBe('done')
    expect(accountOf(later).problems).toEqual([])
    expect(service.count('uploadFile')).toBe(1)
  })
})

test('an answer that comes after another run took the mirror over is left to that run', async () => {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  let status = 'running'
  const wrapClient = (client: ServiceClient): ServiceClient => ({
    ...client,
    pollResource: async (_, id) => {
      if (status === 'running') return { id, ingestion_status: status }
      asked.resolve()
      await answered.promise
      return { id, ingestion_status: status }
    },
  })
  const { engine, store, tested, mirror } = await startEngine({ 'a.md': 'A' }, { wrapClient })
  await tested.sync([mirror], { waitMs: 0 })
  const [row] = store.mirrors.list()
  if (!row) throw new Error('there is no mirror')
  status = 'completed'
  const follower = new IngestionFollower(engine, await engine.service.connect(engine.signal))
  follower.add(row)
  const following = follower.run()
  await asked.promise
  follower.remove(row.id)
  answered.resolve()
  follower.finish(HOUR_MS)
  await following
  expect(store.contents.countPending(row)).toBe(1)
})
