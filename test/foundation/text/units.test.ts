import { describe, expect, test } from 'vitest'
import { formatDuration, formatSize, parseDuration, parseSize } from '../../../src/foundation/text/units.ts'

test.each<[durationMs: number, text: string]>([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [12_340, '12.3 s'],
  [59_940, '59.9 s'],
  [59_960, '1m 00s'],
  [245_000, '4m 05s'],
  [3_599_600, '1h 00m'],
  [7_800_000, '2h 10m'],
  [172_800_000, '48h 00m'],
])('a duration of %d ms is %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text)
})

describe('what is beyond the bounds', () => {
  test('a duration of more than ten years is none [S-25]', () => {
    expect(parseDuration('3650d')).toBe(3_650 * 86_400_000)
    for (const text of ['3651d', '1d3650d', `${'9'.repeat(400)}s`])
      expect([text, parseDuration(text)]).toEqual([text, undefined])
  })

  test('a size of more than 1024 TB is none [S-25]', () => {
    expect(parseSize('1024TB')).toBe(2 ** 50)
    for (const text of ['1025TB', '9'.repeat(400)]) expect([text, parseSize(text)]).toEqual([text, undefined])
  })
})

test.each<[sizeBytes: number, text: string]>([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KiB'],
  [9.94 * 2 ** 10, '9.9 KiB'],
  [9.96 * 2 ** 10, '10 KiB'],
  [1_023.4 * 2 ** 10, '1023 KiB'],
  [1_023.6 * 2 ** 10, '1.0 MiB'],
  [2_000 * 2 ** 40, '2000 TiB'],
])('a size of %d bytes is %s', (sizeBytes, text) => {
  expect(formatSize(sizeBytes)).toBe(text)
})
