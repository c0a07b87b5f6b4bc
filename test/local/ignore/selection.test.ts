import fc from 'fast-check'
import ignore from 'ignore'
import { describe, expect, test } from 'vitest'
import { nameOf, parentOf } from '../../../src/foundation/files/paths.ts'
import { createSelection, flawOf, UnmatchedPatterns } from '../../../src/local/ignore/selection.ts'

const PART = fc.constantFrom('a', 'b', 'ab', 'é', 'x.pdf', 'x.md', '日本')
const PATH = fc.array(PART, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const PATTERN = fc
  .tuple(
    fc.constantFrom('', '/', '**/'),
    fc.array(fc.oneof(PART, fc.constantFrom('*', '**', '*.pdf', 'a*', '?', '[ab]', 'x.*')), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.constantFrom('', '/', '/**'),
  )
  .map(([start, parts, end]) => `${start}${parts.join('/')}${end}`)

function takesFile(patterns: readonly string[], path: string): boolean {
  return createSelection(patterns).takes(parentOf(path), nameOf(path), false)
}

function entersAll(patterns: readonly string[], path: string): boolean {
  const selection = createSelection(patterns)
  for (let directory = parentOf(path); directory !== ''; directory = parentOf(directory)) {
    const name = directory.slice(directory.lastIndexOf('/') + 1)
    if (!selection.takes(parentOf(directory), name, true)) return false
  }
  return true
}

describe('a selection', () => {
  test('takes the files that gitignore syntax matches', () => {
    fc.assert(
      fc.property(fc.array(PATTERN, { minLength: 1, maxLength: 3 }), PATH, (patterns, path) => {
        const asGit = ignore({ ignoreCase: false }).add([...patterns])
        expect(takesFile(patterns, path)).toBe(asGit.ignores(path))
      }),
      { numRuns: 2_000 },
    )
  })

  test('enters every directory above a file that it takes', () => {
    fc.assert(
      fc.property(fc.array(PATTERN, { minLength: 1, maxLength: 3 }), PATH, (patterns, path) => {
        fc.pre(takesFile(patterns, path))
        expect(entersAll(patterns, path)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  test('enters no directory beside those that its patterns name', () => {
    const selection = createSelection(['/a/b/*.pdf', 'c/**/d'])
    const enters = (path: string) => selection.takes(parentOf(path), path.slice(path.lastIndexOf('/') + 1), true)
    expect(['a', 'a/b', 'c', 'c/x', 'c/x/y'].filter(enters)).toEqual(['a', 'a/b', 'c', 'c/x', 'c/x/y'])
    expect(['b', 'a/c', 'a/b/c', 'x/c'].filter(enters)).toEqual([])
  })

  test('names what a pattern must be that chooses nothing', () => {
    expect(['!*.pdf', '', '# a', './a', '../a', 'reports\\2026\\*.pdf'].map((pattern) => flawOf(pattern))).toEqual([
      expect.stringContaining('without "!"'),
      expect.stringContaining('not empty'),
      expect.stringContaining('not empty'),
      expect.stringContaining('without "./"'),
      expect.stringContaining('without "./"'),
      expect.stringContaining('"/" between directories'),
    ])
    expect(['*.pdf', '/a', 'a/**', '\\#a', 'Büro/', 'a\\ b'].map((pattern) => flawOf(pattern))).toEqual(
      Array.from({ length: 6 }),
    )
  })

  test('finds out which patterns match a file', () => {
    const unmatched = new UnmatchedPatterns(['*.pdf', '/a/', 'b/x.md'])
    expect(unmatched.takeMatching('a', ['y.md'])).toEqual(['/a/'])
    expect(unmatched.takeMatching('c/b', ['x.md', 'x.pdf'])).toEqual(['*.pdf'])
    expect(unmatched.takeMatching('c', ['x.pdf'])).toEqual([])
    expect(unmatched.takeMatching('b', ['x.md'])).toEqual(['b/x.md'])
  })
})
