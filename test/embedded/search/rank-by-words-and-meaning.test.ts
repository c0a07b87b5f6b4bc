import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { packChunks } from '../../../src/embedded/embedding/chunks.ts'
import { compareChunks, fuseRanks } from '../../../src/embedded/search/rank-by-words-and-meaning.ts'

const byTerms = (ids: readonly number[], hasAllTerms: boolean) =>
  ids.map((resourceId, rank) => ({ resourceId, ordinals: [0], hasAllTerms, score: 0.5 - rank / 20 }))
const near = (ids: readonly number[]) =>
  ids.map((resourceId, rank) => ({ resourceId, ordinal: 0, start: 0, nearness: 0.9 - rank / 100 }))
const fuse = (terms: readonly number[], meaning: readonly number[], embedded: readonly number[], hasAllTerms = true) =>
  fuseRanks(byTerms(terms, hasAllTerms), { nearest: near(meaning), embedded: new Set(embedded) }).map(
    ({ resourceId }) => resourceId,
  )

it('the first three by their words, if a passage has them all, stay the first three', () => {
  const all = [1, 2, 3, 4, 5]
  expect(fuse(all, [2, 3, 4, 5], all)).toEqual([2, 3, 1, 4, 5])
  expect(fuse(all, [2, 3, 4, 5], all, false)).toEqual([2, 3, 4, 5, 1])
  expect(fuse(all, [4, 5], all)).toEqual([1, 2, 3, 4, 5])
  expect(fuse(all, [4, 5], all, false)).toEqual([4, 5, 1, 2, 3])
  expect(fuse([1], [4, 5, 3, 2], all)).toEqual([4, 5, 1, 3, 2])
})

it('which resources are embedded already makes no difference to their ranks by words', () => {
  expect(fuse([1, 2, 3, 4], [], [])).toEqual([1, 2, 3, 4])
  expect(fuse([1, 2, 3, 4], [2], [2])).toEqual([1, 2, 3, 4])
})

it('what only the meaning finds is found, the nearest first', () => {
  expect(fuse([1], [3, 2], [1, 2, 3])).toEqual([3, 2, 1])
  expect(fuse([], [3, 2], [2, 3])).toEqual([3, 2])
})

/**
 * The resources by their nearness; the chunks of each are given as similarities with the query, those of its first passage first. The
 * chunks of each passage are a row, as ingestion may store them.
 */
function nearest(resources: readonly (readonly [beginning: readonly number[], further: readonly number[]])[]) {
  using cleanup = new DisposableStack()
  const database = cleanup.adopt(new Database(':memory:'), (opened) => opened.close())
  database.exec('CREATE TABLE chunk_vectors (resource_id, dimensions, chunks)')
  const insert = database.prepare('INSERT INTO chunk_vectors VALUES (?, 2, ?)')
  for (const [resourceId, parts] of resources.entries()) {
    for (const [ordinal, similarities] of parts.entries()) {
      const vectors = similarities.map((each) => Float32Array.of(each, Math.sqrt(1 - each ** 2)))
      insert.run(resourceId, packChunks(vectors.map((vector, index) => ({ ordinal, start: 600 * index, vector }))))
    }
  }
  const query = { vector: Float32Array.of(1, 0), minSimilarity: 0.3 }
  return compareChunks(database, query, {}).nearest.map(({ resourceId }) => resourceId)
}

it('the best of many chunks is less near than the only chunk of a short text that is as similar', () => {
  const many = Array.from({ length: 200 }, () => 0.2)
  expect(
    nearest([
      [[0.1], [...many, 0.7]],
      [[0.1], [0.69]],
      [[0.1], [0.1]],
    ]),
  ).toEqual([1, 0])
})

it('of the resources that words find alike, meaning decides, as a share of their score', () => {
  const found = [
    [5, 4.9],
    [5, 4],
  ].map(([first = 0, second = 0]) =>
    fuseRanks(
      [first, second].map((score, resourceId) => ({ resourceId, ordinals: [0], hasAllTerms: false, score })),
      { nearest: [{ resourceId: 1, ordinal: 0, start: 0, nearness: 0.04 }], embedded: new Set([0, 1]) },
    ).map(({ resourceId }) => resourceId),
  )
  expect(found).toEqual([
    [1, 0],
    [0, 1],
  ])
})

it('a resource whose beginning is about the query is nearer than one that has a passage about it', () => {
  expect(
    nearest([
      [[0.1], [0.7, 0.1]],
      [[0.5], [0.69, 0.1]],
    ]),
  ).toEqual([1, 0])
  expect(
    nearest([
      [[0.1, 0.5], [0.69]],
      [[0.5, 0.1], [0.69]],
    ]),
  ).toEqual([1, 0])
})
