/** When a follower asks the store which failed resources are due for another poll. */
import { expect, test } from 'vitest'
import { NextLook } from '../../../src/sync/ingestion/next-look.ts'
import { manualClock } from '../../support/manual-clock.ts'

const MINUTE_MS = 60_000

/** A next look without any known due time. */
function postponed() {
  const clock = manualClock()
  const look = new NextLook(clock)
  look.postpone()
  return { clock, look, inMinutes: () => (look.atMs - clock.monotonicMs()) / MINUTE_MS }
}

test('the first look of a follower is due at once', () => {
  expect(new NextLook(manualClock()).isDue).toBe(true)
})

test('a postponed look comes after ten minutes, or when it is demanded', async () => {
  const { clock, look } = postponed()
  await clock.advance(10 * MINUTE_MS - 1)
  expect(look.isDue).toBe(false)
  await clock.advance(1)
  expect(look.isDue).toBe(true)
  look.postpone()
  expect(look.isDue).toBe(false)
  look.demand()
  expect(look.isDue).toBe(true)
})

test.each([
  ['at once', 0, 1],
  ['in five minutes', 5, 5],
  ['after the look that comes anyway', 60, 10],
  ['in the past, after the wall clock was set', -1_000_000, 1],
])('a resource that is due %s delays the look by one to ten minutes', (_, dueInMinutes, minutes) => {
  const { clock, look, inMinutes } = postponed()
  look.schedule(clock.nowMs() + dueInMinutes * MINUTE_MS)
  expect(inMinutes()).toBe(minutes)
})

test('the earliest of several due resources decides', () => {
  const { clock, look, inMinutes } = postponed()
  for (const minutes of [7, 3, 9]) look.schedule(clock.nowMs() + minutes * MINUTE_MS)
  look.schedule(null)
  expect(inMinutes()).toBe(3)
})

test('a jump of the wall clock moves no look', () => {
  const { clock, look, inMinutes } = postponed()
  look.schedule(clock.nowMs() + 5 * MINUTE_MS)
  clock.jump(-10 * 365 * 24 * 60 * MINUTE_MS)
  expect(inMinutes()).toBe(5)
})
