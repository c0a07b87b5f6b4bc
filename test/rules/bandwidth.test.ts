import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { bandwidthAt, isEverLimited, parseBandwidth } from '../../src/rules/bandwidth.ts'

describe('a limit of the bandwidth', () => {
  it.each([
    ['2MB', [[0, 2_097_152]]],
    ['0', [[0, 0]]],
    ['off', [[0, 0]]],
    ['08:00,512K', [[480, 524_288]]],
    [
      '18:30,off 8:00,1MiB',
      [
        [480, 1_048_576],
        [1_110, 0],
      ],
    ],
  ])('%s is read', (text, expected) => {
    const read = parseBandwidth(text)?.map(({ fromMinute, bytesPerSecond }) => [fromMinute, bytesPerSecond])
    expect(read).toEqual(expected)
  })

  it.each(['', '8,1MB', '24:00,1MB', '08:60,1MB', '08:00', '08:00,', '08:00,fast', '08:00,1MB 8:00,2MB', '08:00,1MB;'])(
    '%j is refused',
    (text) => {
      expect(parseBandwidth(text)).toBeUndefined()
    },
  )

  test('at every minute the entry holds that began last, over midnight too', () => {
    const times = fc.uniqueArray(fc.nat(1_439), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(times, fc.nat(1_439), (minutes, now) => {
        const time = (minute: number) =>
          `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
        // Each entry allows as many KiB as its minute says, so that the limit names the entry.
        const bandwidth = parseBandwidth(minutes.map((minute) => `${time(minute)},${minute + 1}K`).join(' ')) ?? []
        const ageOf = (minute: number) => (now - minute + 1_440) % 1_440
        const latest = minutes.toSorted((one, other) => ageOf(one) - ageOf(other))[0] ?? 0
        expect(bandwidthAt(bandwidth, now)).toBe((latest + 1) * 1_024)
      }),
    )
  })

  test('a timetable without any limit limits nothing', () => {
    expect(
      ['0', '08:00,off 9:00,0', '08:00,off 9:00,1K'].map((text) => isEverLimited(parseBandwidth(text) ?? [])),
    ).toEqual([false, false, true])
  })
})
