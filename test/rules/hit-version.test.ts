import { expect, test } from 'vitest'
import { isShown, versionOf } from '../../src/rules/search-filter.ts'

const known = { hasFile: false, endedBy: null, isNewestFound: false }

test.each([
  ['a file has it, whatever the service says', { ...known, hasFile: true, endedBy: 'changed' }, 'r2', 'current'],
  ['nobody knows another', undefined, undefined, 'current'],
  ['the service calls it the newest', undefined, null, 'current'],
  ['the service names a newer one', undefined, 'r2', 'earlier'],
  ['its file has another text', { ...known, endedBy: 'changed' }, null, 'earlier'],
  [
    'the new text of its file cannot be found yet',
    { ...known, endedBy: 'changed', isNewestFound: true },
    'r2',
    'waiting',
  ],
  ['its file is gone', { ...known, endedBy: 'gone' }, null, 'gone'],
  ['its file is left out', { ...known, endedBy: 'ignored' }, null, 'left-out'],
  ['its mirror was forgotten', known, null, 'current'],
] as const)('of a hit of which %s the version is known', (_, files, supersededBy, expected) => {
  expect(versionOf(files, supersededBy)).toBe(expected)
})

test('a search shows what is there today, and each version when asked', () => {
  const versions = ['current', 'waiting', 'earlier', 'gone', 'left-out'] as const
  expect(versions.filter((each) => isShown(each, 'current'))).toEqual(['current', 'waiting'])
  expect(versions.filter((each) => isShown(each, 'all'))).toEqual(versions)
})
