import { describe, expect, test } from 'vitest'
import { assessClock } from '../../../src/rules/doctor/assess-clock.ts'

describe('the clock beside that of the service', () => {
  test.each([
    [0, 'ok', '+0.0 s'],
    [4_999, 'ok', '+5.0 s'],
    [-4_900, 'ok', '-4.9 s'],
    [5_000, 'warning', 'times in reports and logs are wrong'],
    [-299_000, 'warning', '-299.0 s'],
    [300_000, 'failed', '+300.0 s'],
    [-600_000, 'failed', 'certificates and waiting times are misread'],
  ])('a clock may differ by seconds, and not by minutes: %d ms ahead is %s', (aheadMs, level, words) => {
    expect(assessClock(aheadMs)).toMatchObject({ level, message: expect.stringContaining(words) })
  })

  test('only a clock that is wrong is to be set', () => {
    const remedies = [0, 60_000, -3_600_000].map((aheadMs) => assessClock(aheadMs).remedy)
    expect(remedies).toEqual([undefined, ...Array(2).fill(expect.stringContaining('timedatectl'))])
  })

  test('a service that states no time leaves the clock unjudged with a warning', () => {
    const { level, message, remedy } = assessClock(undefined)
    expect([level, remedy]).toEqual(['warning', undefined])
    expect(message).toContain('no time to compare with')
  })
})
