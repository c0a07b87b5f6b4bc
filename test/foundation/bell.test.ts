import { describe, expect, test } from 'vitest'
import { Bell } from '../../src/foundation/bell.ts'
import { manualClock } from '../support/manual-clock.ts'

describe('a bell', () => {
  test('keeps a ring until somebody waits', async () => {
    const bell = new Bell()
    bell.ring()
    bell.ring()
    expect(await bell.waitAtMost(manualClock(), 1_000)).toBe(false)
    const clock = manualClock()
    const second = bell.waitAtMost(clock, 1_000)
    await clock.advance(1_000)
    expect(await second).toBe(true)
  })

  test('leaves nothing waiting once it has rung', async () => {
    const bell = new Bell()
    const clock = manualClock()
    const waiting = bell.waitAtMost(clock, 1_000)
    bell.ring()
    expect([await waiting, clock.countSleepers()]).toEqual([false, 0])
  })

  test('leaves no listener at the signal', async () => {
    const bell = new Bell()
    const clock = manualClock()
    const stop = new AbortController()
    const stopped = bell.waitAtMost(clock, 1_000, stop.signal)
    stop.abort()
    expect([await stopped, clock.countSleepers()]).toEqual([false, 0])
    expect(await bell.waitAtMost(clock, 1_000, stop.signal)).toBe(false)
  })
})
