import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { IdleMemory } from '../../src/daemon/run-and-reload.ts'

/** Garbage of `count` small objects, of which a reference to one is returned. */
function leaveGarbage(count: number): WeakRef<object> {
  const garbage = Array.from({ length: count }, (_, index) => ({ index, text: [index] }))
  return new WeakRef(garbage[0] ?? {})
}

test('an idle daemon gives back what a pass left', async () => {
  const memory = new IdleMemory()
  const garbage = leaveGarbage(1_000_000)
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
