import { describe, expect, test } from 'vitest'
import { isWithin, joinPath, nameOf, parentOf, pathWithin } from '../../../src/foundation/files/paths.ts'

describe('paths', () => {
  test.each([
    ['', 'a.md', 'a.md'],
    ['a', 'b.md', 'a/b.md'],
    ['a/b', 'c', 'a/b/c'],
  ])('a path joined from "%s" and "%s" splits into these parts', (directory, name, path) => {
    expect(joinPath(directory, name)).toBe(path)
    expect([parentOf(path), nameOf(path)]).toEqual([directory, name])
  })

  test('the root has neither a parent nor a name', () => {
    expect([parentOf(''), nameOf(''), nameOf('/')]).toEqual(['', '', ''])
  })

  test.each([
    ['', 'a/b', 'a/b'],
    ['', '', ''],
    ['/', '/a/b', 'a/b'],
    ['/a', '/a', ''],
    ['/a', '/a/b/c', 'b/c'],
    ['a', 'a/b', 'b'],
    ['a', 'ab', undefined],
    ['a/b', 'a', undefined],
    ['/a', '/', undefined],
  ])('within "%s" the path "%s" is %j', (directory, path, inner) => {
    expect(pathWithin(directory, path)).toBe(inner)
    expect(isWithin(directory, path)).toBe(inner !== undefined)
  })

  test('paths may have the separators of Windows', () => {
    expect(pathWithin('C:\\', 'C:\\a\\b', '\\')).toBe('a\\b')
    expect(pathWithin('C:\\a', 'C:\\a\\b', '\\')).toBe('b')
    expect(isWithin('C:\\a', 'C:\\ab', '\\')).toBe(false)
  })
})
