import { expect, test } from 'vitest'
import { CachedReading } from '../../../src/sync/reading/readings.ts'

test('a reading is cached under its key, and dropped for another', () => {
  const dropped: string[] = []
  const cached = new CachedReading<string>({ onDropped: (value) => void dropped.push(value) })
  const read = (key: string, value: string) => cached.get(key, () => value)
  expect([read('a', 'first'), read('a', 'second'), read('b', 'third'), read('a', 'fourth')]).toEqual([
    'first',
    'first',
    'third',
    'fourth',
  ])
  expect(dropped).toEqual(['first', 'third'])
  expect(() =>
    cached.get('c', () => {
      throw new Error('unreadable')
    }),
  ).toThrow('unreadable')
  expect(read('c', 'fifth')).toBe('fifth')
})

test('a reading stays cached in proportion to its duration, within bounds', () => {
  let nowMs = 0
  let readings = 0
  const lifetime = { durationFactor: 100, minMs: 0, maxMs: 300_000 }
  const cached = new CachedReading<number>({ lifetime, clock: { monotonicMs: () => nowMs } })
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
      cached.get('', () => {
        nowMs += tookMs
        readings += 1
        return readings
      }),
    )
  }
  expect(seen).toEqual([1, 1, 2, 2, 3])
})
