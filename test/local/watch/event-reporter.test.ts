import { expect, test } from 'vitest'
import type { Clock } from '../../../src/foundation/clock.ts'
import { EventReporter } from '../../../src/local/watch/tree-watcher.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { recording } from './watched-tree.ts'

const BURST = 5_000

test('a burst is reported as one loss [F-FS-21]', async () => {
  const clock = manualClock()
  const { reporter, reported } = reporting(clock)
  hintOften(reporter, BURST)
  expect(reported.hints.size).toBe(4_000)
  expect(reported.losses).toEqual([])
  await clock.advance(3_000)
  expect(reported.losses).toEqual(['burst'])
  reporter.reportHint('later.md')
  expect(reported.hints.has('later.md')).toBe(true)
})

test('a burst that continues is reported again', async () => {
  const clock = manualClock()
  const { reporter, reported } = reporting(clock)
  for (let second = 0; second < 9; second += 1) {
    hintOften(reporter, BURST)
    await clock.advance(1_000)
  }
  expect(reported.losses.length).toBe(3)
})

test('the end of a burst is never lost [F-FS-21]', async () => {
  const clock = manualClock()
  const { reporter, reported } = reporting(clock)
  hintOften(reporter, BURST)
  await clock.advance(3_000)
  hintOften(reporter, BURST)
  await clock.advance(3_000)
  expect(reported.losses).toEqual(['burst', 'burst'])
})

test('many hints in many seconds are no burst', async () => {
  const clock = manualClock()
  const { reporter, reported } = reporting(clock)
  for (let second = 0; second < 5; second += 1) {
    hintOften(reporter, 3_000)
    await clock.advance(1_000)
  }
  expect(reported.losses).toEqual([])
})

test('paths outside the root count as a loss', async () => {
  const clock = manualClock()
  const { reporter, reported } = reporting(clock)
  for (const path of ['/root', '/root/a/b.md', '/root-beside/x.md']) reporter.reportAbsoluteHint(path)
  await clock.advance(3_000)
  expect([...reported.hints]).toEqual(['', 'a/b.md'])
  expect(reported.losses).toEqual(['a path outside the root'])
})

test('a closed reporter reports nothing', async () => {
  const clock = manualClock()
  const { reporter, reported } = reporting(clock)
  reporter.reportLoss('something')
  reporter[Symbol.dispose]()
  reporter.reportHint('x.md')
  reporter.reportLimit('no more')
  await clock.advance(3_000)
  expect([...reported.hints, ...reported.losses, ...reported.limits]).toEqual([])
})

function reporting(clock: Clock) {
  const { reported, options } = recording('/root', 'chokidar', clock)
  return { reporter: new EventReporter(options), reported }
}

function hintOften(reporter: EventReporter, times: number): void {
  for (let count = 0; count < times; count += 1) reporter.reportHint(`f${count}.md`)
}
