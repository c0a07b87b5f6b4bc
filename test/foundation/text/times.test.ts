import { expect, test } from 'vitest'
import { formatTime, isoTime, timeOfDay } from '../../../src/foundation/text/times.ts'

const at = (day: number, hour: number, minute: number) => new Date(2026, 10, day, hour, minute, 7).getTime()

test('a time of another day has its date, one of today has none', () => {
  const now = at(20, 0, 4)
  expect(formatTime(at(20, 14, 5), now)).toBe('14:05')
  expect(formatTime(at(19, 14, 5), now)).toBe('2026-11-19 14:05')
  expect(formatTime(at(21, 0, 1), now)).toBe('2026-11-21 00:01')
  expect(timeOfDay(at(18, 0, 4), now)).toBe('2026-11-18 00:04')
  expect(timeOfDay(at(20, 0, 1), now)).toBe('00:01:07')
})

test('an ISO time is what the platform prints, whichever day came before', () => {
  const times = [
    0, 86_399_999, -1, -0.5, -86_400_001, 1_795_855_000_123, 1_795_855_000_007.7, 253_402_300_800_000, 59_999,
  ]
  expect(times.map((time) => isoTime(time))).toEqual(times.map((time) => new Date(time).toISOString()))
  expect(isoTime(null)).toBeNull()
})
