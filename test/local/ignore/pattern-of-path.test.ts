import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseIgnoreRule, patternOfPath } from '../../../src/local/ignore/ignore-rule.ts'

const NAMES = fc
  .string({
    unit: fc.constantFrom('a', 'B', ' ', '!', '#', '*', '?', '[', ']', '\\', 'ü', '.'),
    minLength: 1,
    maxLength: 8,
  })
  .filter((name) => name !== '.' && name !== '..')
const PATHS = fc.array(NAMES, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))

test('the pattern of a path matches that path alone', () => {
  fc.assert(
    fc.property(PATHS, PATHS, (path, other) => {
      const rule = parseIgnoreRule({ pattern: patternOfPath(path), source: '.shelfdignore', line: 1, secret: false })
      const matches = (each: string) => rule?.matches(each, each.slice(each.lastIndexOf('/') + 1))
      expect(matches(path)).toBe(true)
      if (other !== path) expect(matches(other)).toBe(false)
    }),
    { numRuns: 2_000 },
  )
})

test('a line break in a path is any character in its pattern', () => {
  expect(patternOfPath('a\nb')).toBe('/a?b')
})
