import { expect, test } from 'vitest'
import { KeptReading } from '../../../src/sync/reading/kept-reading.ts'

test('a reading is kept under its key, and dropped for another', () => {
  const dropped: string[] = []
  const kept = new KeptReading<string>({ onDropped: (value) => void dropped.push(value) })
  const read = (key: string, value: string) => kept.get(key, () => value)
  expect([read('a', 'first'), read('a', 'second'), read('b', 'third'), read('a', 'fourth')]).toEqual([
    'first',
    'first',
    'third',
    'fourth',
  ])
  expect(dropped).toEqual(['first', 'third'])
  expect(() =>
    kept.get('c', () => {
      throw new Error('unreadable')
    }),
  ).toThrow('unreadable')
  expect(read('c', 'fifth')).toBe('fifth')
})

test('a reading is used again in proportion to its duration, within bounds', () => {
  let nowMs = 0
  let readings = 0
  const use = { perReading: 100, leastMs: 0, mostMs: 300_000 }
  const kept = new KeptReading<number>({ use, clock: { monotonicMs: () => nowMs } })
  const seen: number[] = []
  for (const [passedMs, tookMs] of [
    [0, 20],
    [1_999, 20],
    [1, 10_000],
    [299_999, 20],
    [1, 20],
  ] as const) {
    nowMs += passedMs
    seen.push(
      kept.get('', () => {
        nowMs += tookMs
        readings += 1
        return readings
      }),
    )
  }
  expect(seen).toEqual([1, 1, 2, 2, 3])
})
