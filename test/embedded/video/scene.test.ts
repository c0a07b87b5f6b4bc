import { expect, test } from 'vitest'
import { collageMoments, sceneAt, segmentAt } from '../../../src/embedded/video/video-pictures.ts'

test.each([
  [0, [], { startMs: 0, endMs: 30_000 }],
  [29_999, [], { startMs: 0, endMs: 30_000 }],
  [30_000, [], { startMs: 30_000, endMs: 40_500 }],
  [1_999, [2_000, 5_000], { startMs: 0, endMs: 2_000 }],
  [2_000, [2_000, 5_000], { startMs: 2_000, endMs: 5_000 }],
  [5_000, [2_000, 5_000], { startMs: 5_000, endMs: 30_000 }],
  [40_499, [33_000], { startMs: 33_000, endMs: 40_500 }],
])('the scene at %i ms with changes at %j is %j', (momentMs, changesMs, scene) => {
  expect(sceneAt(momentMs, segmentAt(momentMs, 40_500), changesMs)).toEqual(scene)
})

test('a collage shows five moments within its scene', () => {
  expect(collageMoments({ startMs: 1_000, endMs: 2_000 })).toEqual([1_100, 1_300, 1_500, 1_700, 1_900])
  expect(collageMoments({ startMs: 7, endMs: 8 })).toEqual([7, 7, 7, 7, 7])
})
