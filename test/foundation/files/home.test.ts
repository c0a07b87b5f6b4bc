import { expect, test } from 'vitest'
import { baseDirectory, pathInHome, withTilde } from '../../../src/foundation/files/home.ts'

test('a base directory is the given one, and otherwise lies in the home directory', () => {
  expect(baseDirectory('/given', '/home/ada', '.config')).toBe('/given')
  expect(baseDirectory('relative', '/home/ada', '.config')).toBe('/home/ada/.config')
  expect(baseDirectory('/given', '', '.config')).toBe('/given')
})

test('a user without a home directory is told what to set, once it is needed', () => {
  for (const use of [() => pathInHome('', 'x'), () => baseDirectory(undefined, '', '.config')])
    expect(use).toThrow(/HOME is not set.*set HOME/)
  expect(withTilde('', '/srv/papers')).toBe('/srv/papers')
  expect(withTilde('/home/ada', '/home/ada/papers')).toBe('~/papers')
})
