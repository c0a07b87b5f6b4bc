import { expect, test } from 'vitest'
import { readTimeline } from '../../../src/sync/reading/readings.ts'
import { mirrorOf, openTestEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

test('the timeline counts what a run sent, in the interval of its beginning', async () => {
  const service = await startFaultyService()
  const { sync, store } = openTestEngine(service)
  const before = Date.now()
  const directory = writeTree(temporaryDirectory(), { 'a.md': 'one', 'b.md': 'three', 'copy.md': 'one' })
  await sync([mirrorOf(directory)])
  for (const [span, intervals] of [
    ['hour', 60],
    ['day', 96],
    ['month', 120],
  ] as const) {
    const { fromMs, intervalMs, ...timeline } = readTimeline(store, span, Date.now())
    const { sent, bytes, failed, searchableAfterMs } = timeline
    expect(Object.values(timeline).map(({ length }) => length)).toEqual([intervals, intervals, intervals, intervals])
    expect([sum(sent), sum(bytes), sum(failed)]).toEqual([2, 8, 0])
    const [slot, last] = [before, Date.now()].map((time) => Math.floor((time - fromMs) / intervalMs))
    expect(sum(sent.slice(slot, (last ?? 0) + 1))).toBe(2)
    expect(searchableAfterMs.filter((value) => value !== null).length).toBeGreaterThan(0)
  }
})

test('what was sent before the span is left out', async () => {
  const service = await startFaultyService()
  const { sync, store } = openTestEngine(service)
  await sync([mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'one' }))])
  const later = (hours: number) => Date.now() + hours * 3_600_000
  expect(sum(readTimeline(store, 'hour', later(2)).sent)).toBe(0)
  expect(sum(readTimeline(store, 'day', later(2)).sent)).toBe(1)
  expect(readTimeline(undefined, 'hour', Date.now()).sent).toEqual(new Array(60).fill(0))
})
