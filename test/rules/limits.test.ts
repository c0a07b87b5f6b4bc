import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDayAndTime } from '../../src/foundation/text/times.ts'
import { describeHold, holdingLimit, ingestionShare, roomInRun } from '../../src/rules/limits.ts'

const bound = fc.option(fc.nat(20))

test('parts of what may be in ingestion are within the limit, and let each host go on [P21]', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 2_000 }), (limit, hosts) => {
      const share = ingestionShare(limit, hosts)
      expect(share).toBeGreaterThanOrEqual(1)
      expect(share * hosts).toBeLessThanOrEqual(Math.max(limit, hosts))
      expect((share + 1) * hosts).toBeGreaterThan(limit)
    }),
  )
})

describe('the quota', () => {
  test('a run that obeys the quota never exceeds it [P14]', () => {
    const limits = fc.record({ newPerRun: bound, newPerDay: bound, newBytesPerRun: bound })
    fc.assert(
      fc.property(limits, fc.array(fc.nat(8), { maxLength: 40 }), fc.nat(10), (limits, sizes, sentToday) => {
        const sent = { inRun: 0, inDay: sentToday, bytesInRun: 0 }
        for (const size of sizes) {
          if (holdingLimit(limits, sent, size)) continue
          sent.inRun += 1
          sent.inDay += 1
          sent.bytesInRun += size
        }
        expect(sent.inRun).toBeLessThanOrEqual(limits.newPerRun ?? Number.POSITIVE_INFINITY)
        expect(sent.inDay).toBeLessThanOrEqual(Math.max(sentToday, limits.newPerDay ?? Number.POSITIVE_INFINITY))
        expect(sent.bytesInRun).toBeLessThanOrEqual(limits.newBytesPerRun ?? Number.POSITIVE_INFINITY)
      }),
    )
  })

  test('a run has room as long as its limits let one more byte through', () => {
    const limits = fc.record({ newPerRun: bound, newPerDay: fc.constant(null), newBytesPerRun: bound })
    fc.assert(
      fc.property(limits, fc.nat(30), fc.nat(30), (limits, inRun, bytesInRun) => {
        const used = { inRun, inDay: 0, bytesInRun }
        const room = roomInRun(limits, used)
        expect(room > 0).toBe(holdingLimit(limits, used, 1) === undefined)
        if (room > 0 && limits.newPerRun !== null) expect(room).toBe(limits.newPerRun - inRun)
      }),
    )
  })

  test('a quota without limits holds nothing back', () => {
    const none = { newPerRun: null, newPerDay: null, newBytesPerRun: null }
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), fc.nat(), (inRun, inDay, bytesInRun, size) => {
        expect(holdingLimit(none, { inRun, inDay, bytesInRun }, size)).toBeUndefined()
      }),
    )
  })

  test('a quota of nothing holds everything back', () => {
    const sent = { inRun: 0, inDay: 0, bytesInRun: 0 }
    expect(holdingLimit({ newPerRun: 0, newPerDay: null, newBytesPerRun: null }, sent, 0)).toBe('newPerRun')
    expect(holdingLimit({ newPerRun: null, newPerDay: 0, newBytesPerRun: null }, sent, 0)).toBe('newPerDay')
    expect(holdingLimit({ newPerRun: null, newPerDay: null, newBytesPerRun: 0 }, sent, 1)).toBe('newBytesPerRun')
  })
})

test.each([
  ['newPerRun', 4, null, 'held back by limits.newPerRun (4 in a run); the next run continues'],
  ['newBytesPerRun', 2_048, null, 'held back by limits.newBytesPerRun (2.0 KiB in a run); the next run continues'],
  ['inIngestion', 200, null, 'held back by limits.inIngestion (200 at the same time); the next run continues'],
  [
    'newPerDay',
    20,
    '2026-11-22T03:00:00.000Z',
    `held back by limits.newPerDay (20 in 24 hours); the limit allows more from ${formatDayAndTime(Date.UTC(2026, 10, 22, 3))}`,
  ],
] as const)('the limit %s is named with its amount and time', (limit, value, freesAt, text) => {
  expect(describeHold({ limit, value, freesAt })).toBe(text)
})
