/** When a follower asks the store which failed resources are due for another poll. */
import { expect, test } from 'vitest'
import { NextRecheck } from '../../../src/sync/ingestion/poll-schedule.ts'
import { manualClock } from '../../support/manual-clock.ts'

const MINUTE_MS = 60_000

/** A next recheck without any known due time. */
function postponed() {
  const clock = manualClock()
  const recheck = new NextRecheck(clock)
  recheck.postpone()
  return { clock, recheck, inMinutes: () => (recheck.atMs - clock.monotonicMs()) / MINUTE_MS }
}

test('the first recheck of a follower is due at once', () => {
  expect(new NextRecheck(manualClock()).isDue).toBe(true)
})

test('a postponed recheck comes after ten minutes, or when it is demanded', async () => {
  const { clock, recheck } = postponed()
  await clock.advance(10 * MINUTE_MS - 1)
  expect(recheck.isDue).toBe(false)
  await clock.advance(1)
  expect(recheck.isDue).toBe(true)
  recheck.postpone()
  expect(recheck.isDue).toBe(false)
  recheck.demand()
  expect(recheck.isDue).toBe(true)
})

test.each([
  ['at once', 0, 1],
  ['in five minutes', 5, 5],
  ['after the recheck that comes anyway', 60, 10],
  ['in the past, after the wall clock was set', -1_000_000, 1],
])('a resource that is due %s delays the recheck by one to ten minutes', (_, dueInMinutes, minutes) => {
  const { clock, recheck, inMinutes } = postponed()
  recheck.schedule(clock.nowMs() + dueInMinutes * MINUTE_MS)
  expect(inMinutes()).toBe(minutes)
})

test('the earliest of several due resources decides', () => {
  const { clock, recheck, inMinutes } = postponed()
  for (const minutes of [7, 3, 9]) recheck.schedule(clock.nowMs() + minutes * MINUTE_MS)
  recheck.schedule(null)
  expect(inMinutes()).toBe(3)
})

test('a jump of the wall clock moves no recheck', () => {
  const { clock, recheck, inMinutes } = postponed()
  recheck.schedule(clock.nowMs() + 5 * MINUTE_MS)
  clock.jump(-10 * 365 * 24 * 60 * MINUTE_MS)
  expect(inMinutes()).toBe(5)
})
