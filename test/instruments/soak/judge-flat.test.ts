import { describe, expect, test } from 'vitest'
import { judgeDescriptors, judgeMemory } from './judge-flat.ts'

const MEGABYTE = 1e6

/** A run of `count` samples; `at` is from 0 to 1. */
function memoryRun(count: number, bytesOf: (at: number) => number) {
  return Array.from({ length: count }, (_, index) => ({ residentBytes: bytesOf(index / (count - 1)) }))
}

describe('the judgement of memory', () => {
  test('memory that rises only while it warms up is flat', () => {
    const samples = memoryRun(90, (at) => (at < 0.3 ? 100 + at * 200 : 160) * MEGABYTE)
    expect(judgeMemory(samples).flatness).toBe('flat')
  })

  test('memory that rises to the end is growing', () => {
    expect(judgeMemory(memoryRun(90, (at) => (120 + at * 60) * MEGABYTE)).flatness).toBe('growing')
  })

  test('memory with a single peak at the end is flat', () => {
    expect(judgeMemory(memoryRun(90, (at) => (at > 0.95 ? 400 : 120) * MEGABYTE)).flatness).toBe('flat')
  })

  test('memory is not judged from a handful of samples', () => {
    expect(judgeMemory(memoryRun(8, () => MEGABYTE)).flatness).toBe('unknown')
  })
})

test('three more descriptors in the last third are growth', () => {
  const run = (last: number) => [...Array(20).fill(40), ...Array(10).fill(last)].map((descriptors) => ({ descriptors }))
  expect(judgeDescriptors(run(42)).flatness).toBe('flat')
  expect(judgeDescriptors(run(43)).flatness).toBe('growing')
})
