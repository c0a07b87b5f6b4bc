import { expect, test } from 'vitest'
import { openFairQueue } from '../../../src/embedded/search/open-search.ts'
import { manualClock } from '../../support/manual-clock.ts'

const SLOTS = 2

/** A queue whose work ends when a test says so. */
function startQueue() {
  const clock = manualClock()
  const queue = openFairQueue(SLOTS, clock)
  const ends = new Map<string, () => void>()
  const begun: string[] = []
  const ask = (asker: number, name: string, cost = 1) =>
    queue.run({ asker, cost }, async () => {
      begun.push(name)
      await new Promise<void>((end) => ends.set(name, end))
      return name
    })
  /** Ends work once it took so long. */
  const end = async (name: string, afterMs = 0) => {
    await clock.advance(afterMs)
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { queue, ask, end, begun }
}

test('slow searches of one token do not hold up those of another', async () => {
  const { ask, begun, end } = startQueue()
  for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(1, name)
  expect(begun).toEqual(['a1', 'a2'])
  void ask(2, 'b1')
  void ask(3, 'c1')
  expect(begun, 'who has nothing running does not wait').toEqual(['a1', 'a2', 'b1', 'c1'])
  void ask(4, 'd1')
  void ask(2, 'b2')
  expect(begun, 'but not without end').toHaveLength(2 * SLOTS)
  await end('a1')
  expect(begun.slice(4)).toEqual(['d1'])
})

test('of those that wait, the token that has used less time comes first', async () => {
  const { ask, begun, end } = startQueue()
  void ask(1, 'a1')
  void ask(2, 'b1')
  await end('a1', 1_000)
  void ask(1, 'a2')
  for (const name of ['a3', 'a4']) void ask(1, name)
  for (const name of ['b2', 'b3']) void ask(2, name)
  await end('b1', 5_000)
  await end('a2')
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
})

test('of one token the cheaper that waits comes first, but never keeps others waiting for long', async () => {
  const { ask, begun, end } = startQueue()
  for (const name of ['a1', 'a2', 'a3']) void ask(1, name, 32)
  void ask(1, 'plain', 2)
  await end('a1')
  expect(begun).toEqual(['a1', 'a2', 'plain'])
  for (let round = 0; round < 4; round += 1) {
    void ask(1, `plain ${round}`, 2)
    await end(begun.at(-1) ?? '', 60)
  }
  expect(begun.slice(3)).toEqual(['plain 0', 'plain 1', 'plain 2', 'a3'])
})

test('work that fails makes room, and the queue is idle when nothing runs or waits', async () => {
  const { queue, ask, end } = startQueue()
  await queue.untilIdle()
  await expect(queue.run({ asker: 1, cost: 1 }, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  const running = ask(1, 'a1')
  let isIdle = false
  const idle = queue.untilIdle().then(() => {
    isIdle = true
  })
  await new Promise(setImmediate)
  expect(isIdle).toBe(false)
  await end('a1')
  await idle
  expect(await running).toBe('a1')
})
