import { expect, test } from 'vitest'
import { mayBeSameVolume } from '../../../src/rules/mirrors/same-volume.ts'

const UNKNOWN = { id: null, sizeBytes: null }

test('volumes are compared by their identifiers, also when one was resized', () => {
  expect(mayBeSameVolume({ id: '1234-ABCD', sizeBytes: 8 }, { id: '1234-ABCD', sizeBytes: 16 })).toBe(true)
  expect(mayBeSameVolume({ id: '1234-ABCD', sizeBytes: 8 }, { id: '5678-EF01', sizeBytes: 8 })).toBe(false)
})

test('volumes without identifiers are compared by their sizes', () => {
  expect(mayBeSameVolume({ id: '1234-ABCD', sizeBytes: 8 }, { id: null, sizeBytes: 8 })).toBe(true)
  expect(mayBeSameVolume({ id: null, sizeBytes: 8 }, { id: '1234-ABCD', sizeBytes: 9 })).toBe(false)
})

test('a volume of which nothing is known is no other one', () => {
  expect(mayBeSameVolume(UNKNOWN, { id: '1234-ABCD', sizeBytes: 8 })).toBe(true)
  expect(mayBeSameVolume({ id: '1234-ABCD', sizeBytes: 8 }, UNKNOWN)).toBe(true)
})
