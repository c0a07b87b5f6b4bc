import { expect, test } from 'vitest'
import { slowFiles } from './reporter.ts'

/** A run of 100 files that take 4 s each, and one more. */
const run = (ms: number, factor = 1) =>
  new Map([
    ...Array.from({ length: 100 }, (_, at) => [`${at}.test.ts`, 4_000 * factor] as const),
    ['one.test.ts', ms * factor],
  ])

test('a file of more than 8 s of processor time and 5 % of all fails a run', () => {
  expect(slowFiles(run(7_900))).toEqual([])
  expect(slowFiles(run(22_000))).toEqual(['one.test.ts'])
})

test('a machine that is slow throughout fails no file', () => {
  expect(slowFiles(run(7_900, 3))).toEqual([])
  expect(slowFiles(run(22_000, 3))).toEqual(['one.test.ts'])
})
