import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bootClock, systemClock } from '../../src/foundation/clock.ts'

/** What passes between two readings: time awake, then a sleep that only the wall clock and the start of the machine count, or a set clock. */
const steps = fc.array(
  fc.record({
    awakeMs: fc.integer({ min: 0, max: 3_000 }),
    sleepMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100_000 })),
    isSet: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
)

test('the time since the start of the machine counts its sleep at once [P3]', () => {
  fc.assert(
    fc.property(steps, (all) => {
      let [bootMs, monotonicMs, wallMs, reads] = [5_000, 100, 1_000_000, 0]
      const clock = { ...systemClock, nowMs: () => Math.floor(wallMs), monotonicMs: () => monotonicMs }
      const read = bootClock(clock, () => {
        reads += 1
        return bootMs
      })
      read()
      for (const { awakeMs, sleepMs, isSet } of all) {
        monotonicMs += awakeMs
        bootMs += awakeMs + sleepMs
        wallMs += awakeMs + (isSet ? 3_600_000 + sleepMs : sleepMs)
        expect(Math.abs(read() - bootMs)).toBeLessThanOrEqual(51)
      }
      expect(reads).toBeLessThanOrEqual(all.length + 1)
    }),
  )
})

test('the time since the start of the machine is read once in a second', () => {
  let [monotonicMs, reads] = [0, 0]
  const clock = { ...systemClock, nowMs: () => monotonicMs, monotonicMs: () => monotonicMs }
  const read = bootClock(clock, () => {
    reads += 1
    return monotonicMs
  })
  for (; monotonicMs <= 10_000; monotonicMs += 10) expect(read()).toBe(monotonicMs)
  expect(reads).toBeLessThanOrEqual(11)
})
