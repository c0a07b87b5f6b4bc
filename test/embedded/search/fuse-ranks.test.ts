import { expect, it } from 'vitest'
import { fuseRanks } from '../../../src/embedded/search/semantic-ranks.ts'

const byTerms = (ids: readonly number[], isWhole: boolean) =>
  ids.map((resourceId, rank) => ({ resourceId, ordinals: [0], isWhole, score: 1 - rank / 10 }))
const near = (ids: readonly number[]) =>
  ids.map((resourceId, rank) => ({ resourceId, ordinal: 0, start: 0, similarity: 0.9 - rank / 100 }))
const fuse = (terms: readonly number[], meaning: readonly number[], embedded: readonly number[], isWhole = true) =>
  fuseRanks(byTerms(terms, isWhole), { nearest: near(meaning), embedded: new Set(embedded), mean: 0.2 }).map(
    ({ resourceId }) => resourceId,
  )

it('the first by its words, if a passage has them all, stays among the first three', () => {
  const [others, all] = [
    [2, 3, 4, 5],
    [1, 2, 3, 4, 5],
  ]
  expect(fuse(all, others, all)).toEqual([2, 3, 1, 4, 5])
  expect(fuse(all, others, all, false)).toEqual([2, 3, 4, 5, 1])
})

it('which resources are embedded already makes no difference to their ranks by words', () => {
  expect(fuse([1, 2, 3, 4], [], [])).toEqual([1, 2, 3, 4])
  expect(fuse([1, 2, 3, 4], [2], [2])).toEqual([1, 2, 3, 4])
})

it('what only the meaning finds is found, the nearest first', () => {
  expect(fuse([1], [3, 2], [1, 2, 3])).toEqual([3, 2, 1])
  expect(fuse([], [3, 2], [2, 3])).toEqual([3, 2])
})
