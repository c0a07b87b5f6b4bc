import { describe, expect, test } from 'vitest'
import { AutoResetEvent } from '../../../src/foundation/concurrency/auto-reset-event.ts'
import { manualClock } from '../../support/manual-clock.ts'

describe('an auto-reset event', () => {
  test('an auto-reset event stays set until somebody waits', async () => {
    const event = new AutoResetEvent()
    event.set()
    event.set()
    expect(await event.waitAtMost(manualClock(), 1_000)).toBe(false)
    const clock = manualClock()
    const second = event.waitAtMost(clock, 1_000)
    await clock.advance(1_000)
    expect(await second).toBe(true)
  })

  test('a wait that the event ends leaves no sleeper', async () => {
    const event = new AutoResetEvent()
    const clock = manualClock()
    const waiting = event.waitAtMost(clock, 1_000)
    event.set()
    expect([await waiting, clock.countSleepers()]).toEqual([false, 0])
  })

  test('a wait that its signal ends leaves no sleeper', async () => {
    const event = new AutoResetEvent()
    const clock = manualClock()
    const stop = new AbortController()
    const stopped = event.waitAtMost(clock, 1_000, stop.signal)
    stop.abort()
    expect([await stopped, clock.countSleepers()]).toEqual([false, 0])
    expect(await event.waitAtMost(clock, 1_000, stop.signal)).toBe(false)
  })
})
