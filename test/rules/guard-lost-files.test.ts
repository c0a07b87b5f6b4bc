import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ownDirectoriesBelow } from '../../src/rules/broad-and-overlapping-roots.ts'
import { lossReason, mayHaveMoved } from '../../src/rules/guard-lost-files.ts'

describe('the guard of a root', () => {
  test('the root guard never halts when nothing was lost', () => {
    fc.assert(fc.property(fc.nat(), fc.nat(), (stored, found) => lossReason({ stored, found, lost: 0 }) === undefined))
  })

  test('the root guard halts when all of five files are gone [P12]', () => {
    expect(lossReason({ stored: 5, found: 0, lost: 5 })).toBe('emptied')
    expect(lossReason({ stored: 4, found: 0, lost: 4 })).toBeUndefined()
  })

  test('the root guard halts at more than half, from twenty on [P12]', () => {
    expect(lossReason({ stored: 38, found: 18, lost: 20 })).toBe('more than half')
    expect(lossReason({ stored: 40, found: 20, lost: 20 })).toBeUndefined()
    expect(lossReason({ stored: 20, found: 1, lost: 19 })).toBeUndefined()
  })

  test('the root guard halts when new files stand in the place of all known ones, whatever their number [P12]', () => {
    for (const stored of [1, 2, 4, 15, 400]) {
      expect(lossReason({ stored, found: 40, lost: stored })).toBe('replaced')
      expect(lossReason({ stored, found: 1, lost: stored })).toBe('replaced')
    }
    expect(lossReason({ stored: 2, found: 41, lost: 1 })).toBeUndefined()
  })

  test('the root guard expects other files in a directory that was accepted', () => {
    const accepted = { found: 40, isRootAccepted: true }
    expect(lossReason({ ...accepted, stored: 15, lost: 15 })).toBeUndefined()
    expect(lossReason({ ...accepted, stored: 20, lost: 20 })).toBe('more than half')
  })

  test('the root guard waits while unread files may be the lost ones', () => {
    const half = { stored: 38, found: 18, lost: 20 }
    expect([0, 1, 30].map((unread) => mayHaveMoved(half, unread))).toEqual([false, true, true])
    const emptied = { stored: 5, found: 0, lost: 5 }
    expect([0, 4, 5, 6].map((unread) => mayHaveMoved(emptied, unread))).toEqual([false, false, true, true])
    expect(mayHaveMoved({ stored: 40, found: 20, lost: 20 }, 20)).toBe(false)
  })
})

describe('own directories', () => {
  test('own directories are given relative to the root that holds them', () => {
    expect(ownDirectoriesBelow('/home/ada', ['/home/ada/.local/state/shelfd', '/srv/library'])).toEqual([
      '.local/state/shelfd',
    ])
    expect(ownDirectoriesBelow('/', ['/srv/library'])).toEqual(['srv/library'])
    expect(ownDirectoriesBelow('/home/ad', ['/home/ada'])).toEqual([])
  })

  test('a root inside an own directory is recognised', () => {
    expect(ownDirectoriesBelow('/srv/library', ['/srv/library'])).toBe('inside')
    expect(ownDirectoriesBelow('/srv/library/files', ['/srv/library'])).toBe('inside')
  })
})
