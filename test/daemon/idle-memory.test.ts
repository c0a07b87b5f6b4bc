import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { IdleMemory } from '../../src/daemon/run-and-reload.ts'

/** Leaves garbage by which the heap has grown, whatever room earlier tests have left in it; returns a reference to a part of it. */
function leaveGarbage(bytes: number): WeakRef<object> {
  const before = process.memoryUsage().heapTotal
  const garbage: object[] = []
  while (process.memoryUsage().heapTotal < before + bytes) {
    garbage.push(Array.from({ length: 10_000 }, (_, index) => ({ index, text: [index] })))
  }
  return new WeakRef(garbage[0] ?? {})
}

test('an idle daemon gives back what a pass left', async () => {
  const memory = new IdleMemory()
  const garbage = leaveGarbage(64 << 20)
  const grown = process.memoryUsage().heapTotal
  await nextTurn()
  memory.release()
  expect(garbage.deref()).toBeUndefined()
  expect(process.memoryUsage().heapTotal).toBeLessThan(grown - (8 << 20))
})

test('a heap that has hardly grown is left alone', () => {
  let collections = 0
  const memory = new IdleMemory(() => {
    collections += 1
  })
  memory.release()
  expect(collections).toBe(0)
})
