import { expect, test } from 'vitest'
import { KeptReading } from '../../src/dashboard/reading/kept-reading.ts'

test('a reading is kept under its key, and dropped for another', () => {
  const dropped: string[] = []
  const kept = new KeptReading<string>((value) => void dropped.push(value))
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
