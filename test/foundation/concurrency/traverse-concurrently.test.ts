import { expect, test } from 'vitest'
import { traverseConcurrently } from '../../../src/foundation/concurrency/run-concurrently.ts'

interface Node {
  readonly depth: number
}

test('a traversal visits everything that its visits find', async () => {
  const visited: number[] = []
  await traverseConcurrently<Node>([{ depth: 0 }, { depth: 0 }], 3, async ({ depth }) => {
    visited.push(depth)
    return depth < 4 ? [{ depth: depth + 1 }, { depth: depth + 1 }] : []
  })
  expect(visited).toHaveLength(2 * (2 ** 5 - 1))
  expect(visited).toEqual(visited.toSorted())
})

test('a traversal of nothing ends', async () => {
  await traverseConcurrently<Node>([], 3, () => expect.fail('there is nothing to visit'))
})

test('a traversal has no more visits in flight than it may', async () => {
  let inFlight = 0
  let most = 0
  await traverseConcurrently<Node>([{ depth: 0 }], 3, async ({ depth }) => {
    inFlight += 1
    most = Math.max(most, inFlight)
    await new Promise((resolve) => setImmediate(resolve))
    inFlight -= 1
    return depth < 3 ? Array.from({ length: 4 }, () => ({ depth: depth + 1 })) : []
  })
  expect(most).toBe(3)
})

test('a failed visit ends the traversal once the others have ended', async () => {
  const ended: string[] = []
  const slow = Promise.withResolvers<void>()
  const traversal = traverseConcurrently([{ name: 'bad' }, { name: 'slow' }, { name: 'late' }], 2, async ({ name }) => {
    if (name === 'bad') throw new Error('bad')
    await slow.promise
    ended.push(name)
    return [{ name: 'below' }]
  })
  const failure = expect(traversal).rejects.toThrow('bad')
  await new Promise((resolve) => setImmediate(resolve))
  slow.resolve()
  await failure
  expect(ended).toEqual(['slow'])
})
