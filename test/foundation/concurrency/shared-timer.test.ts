import { describe, expect, it } from 'vitest'
import { withSharedTimer } from '../../../src/foundation/concurrency/shared-timer.ts'
import { manualClock } from '../../support/manual-clock.ts'

function opened() {
  const clock = manualClock()
  const passed: string[] = []
  const shared = withSharedTimer(clock)
  const start = (name: string, durationMs: number) => shared.startTimer(durationMs, () => passed.push(name))
  return { clock, passed, shared, start }
}

describe('withSharedTimer', () => {
  it('many deadlines take one timer of the clock', () => {
    const { clock, start } = opened()
    const timers = [start('a', 60_000), start('b', 2_500), start('c', 61_000)]
    expect(clock.countSleepers()).toBe(1)
    for (const timer of timers) timer[Symbol.dispose]()
    expect(clock.countSleepers()).toBe(0)
  })

  it('each deadline passes once, at its time', async () => {
    const { clock, passed, start } = opened()
    start('late', 300)
    start('early', 100)
    start('middle', 200)
    for (const expected of [['early'], ['early', 'middle'], ['early', 'middle', 'late']]) {
      await clock.advance(99)
      expect(passed).toEqual(expected.slice(0, -1))
      await clock.advance(1)
      expect(passed).toEqual(expected)
    }
    expect(clock.countSleepers()).toBe(0)
  })

  it('a stopped deadline never passes', async () => {
    const { clock, passed, start } = opened()
    const stopped = start('stopped', 100)
    start('other', 200)
    stopped[Symbol.dispose]()
    await clock.advance(1_000)
    expect(passed).toEqual(['other'])
  })

  it('a refreshed deadline passes after its whole duration', async () => {
    const { clock, passed, start } = opened()
    const timer = start('a', 100)
    await clock.advance(60)
    timer.refresh()
    await clock.advance(99)
    expect(passed).toEqual([])
    await clock.advance(1)
    expect(passed).toEqual(['a'])
  })

  it('a deadline that passed can be refreshed', async () => {
    const { clock, passed, start } = opened()
    const timer = start('a', 100)
    await clock.advance(100)
    timer.refresh()
    await clock.advance(100)
    expect(passed).toEqual(['a', 'a'])
  })

  it('a passing deadline may stop and start others', async () => {
    const { clock, passed, shared, start } = opened()
    const stopped = start('stopped', 100.5)
    shared.startTimer(100, () => {
      stopped[Symbol.dispose]()
      start('next', 50)
    })
    await clock.advance(149)
    expect(passed).toEqual([])
    await clock.advance(1)
    expect(passed).toEqual(['next'])
  })
})
