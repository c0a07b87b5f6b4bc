import { describe, expect, test } from 'vitest'
import { startHeartbeat } from '../../src/daemon/heartbeat.ts'
import { systemClock } from '../../src/foundation/clock.ts'
import { manualClock } from '../support/manual-clock.ts'

const INTERVAL_MS = 10_000

/** A heartbeat on a clock that the test advances, and its beats and jumps as they came. */
function startManual() {
  const clock = manualClock()
  const events: string[] = []
  const heartbeat = startHeartbeat({
    clock,
    intervalMs: INTERVAL_MS,
    onBeat: () => events.push('beat'),
    onJump: (kind, byMs) => events.push(`${kind} ${byMs}`),
  })
  return { clock, events, heartbeat, [Symbol.dispose]: () => heartbeat[Symbol.dispose]() }
}

describe('the heartbeat', () => {
  test('the heartbeat beats at once and at every interval', async () => {
    using started = startManual()
    expect(started.events).toEqual(['beat'])
    await started.clock.advance(3 * INTERVAL_MS)
    expect(started.events).toEqual(['beat', 'beat', 'beat', 'beat'])
  })

  test('a sleep of the machine is reported before the next beat [F-FS-24]', async () => {
    using started = startManual()
    started.clock.jump(3_600_000)
    await started.clock.advance(INTERVAL_MS)
    expect(started.events).toEqual(['beat', 'woke 3600000', 'beat'])
  })

  test('a clock that was set back is reported [P20]', async () => {
    using started = startManual()
    started.clock.jump(-3_600_000)
    await started.clock.advance(2 * INTERVAL_MS)
    expect(started.events).toEqual(['beat', 'clock -3600000', 'beat', 'beat'])
  })

  test('small corrections of the clock are not reported', async () => {
    using started = startManual()
    for (const byMs of [29_000, -29_000, 1]) {
      started.clock.jump(byMs)
      await started.clock.advance(INTERVAL_MS)
    }
    expect(started.events).toEqual(['beat', 'beat', 'beat', 'beat'])
  })

  test('a sleep that both clocks counted is reported [F-FS-24]', async () => {
    const clock = manualClock()
    const events: string[] = []
    let hasSlept = false
    const late = {
      ...clock,
      sleep: (durationMs: number, signal?: AbortSignal) => {
        const extraMs = hasSlept ? 0 : 600_000
        hasSlept = true
        return clock.sleep(durationMs + extraMs, signal)
      },
    }
    using _ = startHeartbeat({
      clock: late,
      intervalMs: INTERVAL_MS,
      onBeat: () => {},
      onJump: (kind, byMs) => events.push(`${kind} ${byMs}`),
    })
    await clock.advance(700_000)
    expect(events).toEqual(['woke 600000'])
  })

  test('a heartbeat that misses three intervals is dead', async () => {
    const started = startManual()
    await started.clock.advance(INTERVAL_MS)
    expect(started.heartbeat.isAlive()).toBe(true)
    started.heartbeat[Symbol.dispose]()
    await started.clock.advance(3 * INTERVAL_MS)
    expect(started.heartbeat.isAlive()).toBe(true)
    await started.clock.advance(1)
    expect(started.heartbeat.isAlive()).toBe(false)
    expect(started.events).toEqual(['beat', 'beat'])
    expect(started.clock.countSleepers()).toBe(0)
  })

  test('the heartbeat beats with the system clock', async () => {
    const beats = Promise.withResolvers<void>()
    let count = 0
    const onBeat = () => {
      count += 1
      if (count === 3) beats.resolve()
    }
    using _ = startHeartbeat({ clock: systemClock, intervalMs: 1, onBeat, onJump: () => {} })
    await beats.promise
  })
})
