import { describe, expect, test } from 'vitest'
import { describeBroadRoot } from '../../../src/rules/mirrors/broad-root.ts'
import { overlapOf } from '../../../src/rules/mirrors/overlap.ts'

describe('two directories', () => {
  test.each([
    ['/a', '/a', { kind: 'same' }],
    ['/a', '/a/b/c', { kind: 'holds', inner: 'b/c' }],
    ['/a/b', '/a', { kind: 'lies-in', inner: 'b' }],
    ['/', '/a', { kind: 'holds', inner: 'a' }],
    ['/a', '/ab', { kind: 'apart' }],
  ])('the overlap of %s and %s is recognised', (left, right, overlap) => {
    expect(overlapOf(left, right)).toEqual(overlap)
  })
})

describe('a directory that is too broad', () => {
  test.each([
    ['/', 'the whole system'],
    ['C:\\', 'the whole system'],
    ['/home/ada', 'the whole home directory'],
    ['/home', 'home directories'],
    ['/usr', 'a part of the system'],
    ['/proc/1', 'a part of the system'],
    ['/mnt', 'a part of the system'],
    ['/mnt/papers', undefined],
    ['/usr/share/doc', undefined],
    ['/home/ada/Papers', undefined],
    ['/home/adam', undefined],
  ])('the breadth of %s is described as: %s', (path, breadth) => {
    expect(describeBroadRoot(path, '/home/ada')).toBe(breadth)
  })
})
