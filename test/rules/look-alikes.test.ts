import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findLookAlikes } from '../../src/rules/look-alikes.ts'

const all = () => true

describe('names of a directory', () => {
  test('names look alike by case and composition alone [F-FS-11]', () => {
    const names = ['Case.md', 'b.md', 'case.md', 'caf\u00e9', 'cafe\u0301', 'cafe', 'CASE.md']
    expect(findLookAlikes(names, all)).toEqual({ count: 5, first: 'Case.md', second: 'CASE.md' })
    expect(findLookAlikes(['a.md', 'a.txt', 'a .md'], all)).toBeUndefined()
  })

  test('look-alikes are reported only when one of them is new', () => {
    const names = ['A', 'a', 'B', 'b']
    expect(findLookAlikes(names, () => false)).toBeUndefined()
    expect(findLookAlikes(names, (name) => name === 'b')).toEqual({ count: 2, first: 'B', second: 'b' })
  })

  test('names without twins are no look-alikes', () => {
    const names = fc.uniqueArray(fc.string(), { selector: (name) => name.normalize('NFC').toLowerCase() })
    fc.assert(fc.property(names, (distinct) => findLookAlikes(distinct, all) === undefined))
  })
})
