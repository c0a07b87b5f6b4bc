import { expect, test } from 'vitest'
import {
  describeBroadRoot,
  keepsSecrets,
  mayBeSameVolume,
  overlapOf,
} from '../../src/rules/broad-and-overlapping-roots.ts'

test.each([
  ['/a', '/a', { kind: 'same' }],
  ['/a', '/a/b/c', { kind: 'holds', inner: 'b/c' }],
  ['/a/b', '/a', { kind: 'lies-in', inner: 'b' }],
  ['/', '/a', { kind: 'holds', inner: 'a' }],
  ['/a', '/ab', { kind: 'apart' }],
])('the overlap of %s and %s is recognised', (left, right, overlap) => {
  expect(overlapOf(left, right)).toEqual(overlap)
})

test.each([
  ['/', 'the whole system'],
  ['C:\\', 'the whole system'],
  ['/home/ada', 'the whole home directory'],
  ['/home', 'home directories'],
  ['/usr', 'a part of the system'],
  ['/proc/1', 'a part of the system'],
  ['/mnt', 'a part of the system'],
  ['/mnt/papers', undefined],
  ['/usr/share', 'a part of the system'],
  ['/usr/share/doc', undefined],
  ['/var/lib', 'a part of the system'],
  ['/var/lib/ada', undefined],
  ['/home/ada/Papers', undefined],
  ['/home/adam', undefined],
])('the breadth of %s is described as: %s', (path, breadth) => {
  expect(describeBroadRoot(path, '/home/ada')).toBe(breadth)
})

test.each([
  ['/home/ada/.aws', true],
  ['/home/ada/.config/gh', true],
  ['/home/ada/.local/share/keyrings/old', true],
  ['/etc/ssl/private', true],
  ['/srv/etc/ssl/private', false],
  ['/home/ada/.config', false],
  ['/home/ada/Papers/docker', false],
])('whether programs keep secrets in %s: %s', (path, keeps) => {
  expect(keepsSecrets(path)).toBe(keeps)
})

const UNKNOWN = { id: null, sizeBytes: null }

test('volumes are compared by their identifiers, also when one was resized [P15]', () => {
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
