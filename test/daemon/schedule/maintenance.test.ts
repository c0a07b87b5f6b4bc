import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MaintenanceWindows } from '../../../src/daemon/schedule/maintenance.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

function at(time: string): number {
  return Date.parse(`2026-11-21T${time}Z`)
}

describe('maintenance windows', () => {
  const nightly = { start: '0 2 * * *', durationMs: 2 * HOUR_MS }

  test('a maintenance window lasts from its start to its end', () => {
    const windows = new MaintenanceWindows([nightly], 'UTC')
    expect(windows.closedUntil(at('01:59:59.999'))).toBeNull()
    expect(windows.closedUntil(at('02:00'))).toBe(at('04:00'))
    expect(windows.closedUntil(at('03:59:59.999'))).toBe(at('04:00'))
    expect(windows.closedUntil(at('04:00'))).toBeNull()
  })

  test('windows that overlap or touch count as one', () => {
    const more = [
      { start: '30 3 * * *', durationMs: HOUR_MS },
      { start: '30 4 * * *', durationMs: HOUR_MS },
    ]
    const windows = new MaintenanceWindows([...more, nightly], 'UTC')
    expect(windows.closedUntil(at('02:30'))).toBe(at('05:30'))
  })

  test('no window is in force when none is configured', () => {
    expect(new MaintenanceWindows([], 'UTC').closedUntil(at('03:00'))).toBeNull()
  })

  test('windows follow the clock of their time zone', () => {
    const windows = new MaintenanceWindows([nightly], 'America/New_York')
    expect(windows.closedUntil(at('07:30'))).toBe(at('09:00'))
  })

  test('windows without a break end at some later time', () => {
    const windows = new MaintenanceWindows([{ start: '0 * * * *', durationMs: 30 * 24 * HOUR_MS }], 'UTC')
    expect(windows.closedUntil(at('12:00'))).toBeGreaterThan(at('12:00') + 29 * 24 * HOUR_MS)
  })

  test('windows agree with a check of every minute', () => {
    const starts = fc.record({
      minute: fc.integer({ min: 0, max: 59 }),
      hour: fc.integer({ min: 0, max: 23 }),
      minutes: fc.integer({ min: 1, max: 300 }),
    })
    fc.assert(
      fc.property(fc.array(starts, { maxLength: 4 }), fc.integer({ min: 0, max: 1439 }), (list, minuteOfDay) => {
        const settings = list.map(({ minute, hour, minutes }) => ({
          start: `${minute} ${hour} * * *`,
          durationMs: minutes * MINUTE_MS,
        }))
        const isClosed = (later: number) =>
          list.some((one) => (minuteOfDay + later - one.hour * 60 - one.minute + 2880) % 1440 < one.minutes)
        const nowMs = at('00:00') + minuteOfDay * MINUTE_MS
        let closedMinutes = 0
        while (isClosed(closedMinutes) && closedMinutes < 1440) closedMinutes += 1
        const expected = closedMinutes === 0 ? null : nowMs + closedMinutes * MINUTE_MS
        expect(new MaintenanceWindows(settings, 'UTC').closedUntil(nowMs)).toBe(expected)
      }),
      { numRuns: 100 },
    )
  })
})
