import { describe, expect, test } from 'vitest'
import { assessDisk } from '../../../src/rules/doctor/assess-disk.ts'
import { RESERVE_BYTES } from '../../../src/rules/limits.ts'

const GIB = 2 ** 30

describe('the room on a disk', () => {
  test.each([
    ['a whole GiB is enough', GIB, 'ok', undefined],
    ['less than a GiB is a warning', GIB - 1, 'warning', undefined],
    ['a warning lasts as long as uploads go on', RESERVE_BYTES, 'warning', undefined],
    ['less than the reserve fails', RESERVE_BYTES - 1, 'failed', 'disk-full'],
  ])('the free space of a disk is judged: %s', (_, freeBytes, level, code) => {
    const finding = assessDisk('/var/state', freeBytes)
    expect([finding.level, finding.code]).toEqual([level, code])
    expect(finding.message).toContain('free at /var/state')
  })

  test('a disk that is nearly full comes with advice, and a full one says that nothing is sent', () => {
    expect(assessDisk('/', GIB).remedy).toBeUndefined()
    expect(assessDisk('/', RESERVE_BYTES).remedy).toContain('stateDir')
    expect(assessDisk('/', 0)).toMatchObject({
      message: expect.stringContaining('nothing is sent'),
      remedy: expect.stringContaining('free space'),
    })
  })
})
