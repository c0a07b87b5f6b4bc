import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IN_DOUBT } from '../../src/rules/doubts.ts'
import { causeOf, describeGroup, groupProblems } from '../../src/rules/problem-groups.ts'

const unreadable = (path: string) => ({
  path,
  code: 'EACCES',
  message: `Cannot read "${path === '' ? '.' : path}": permission denied`,
})

test.each([
  [unreadable('a/b.md'), 'cannot be read: permission denied'],
  [unreadable(''), 'cannot be read: permission denied'],
  [
    { path: 'a\n.md', code: 'unsupported', message: 'Cannot read "a\\n.md": it is not a regular file' },
    'cannot be read: it is not a regular file',
  ],
  [{ path: 'a.md', code: 'x', message: 'The service refuses "a.md"' }, 'The service refuses it'],
  [{ path: 'a.md', code: 'x', message: 'The PDF is damaged' }, 'The PDF is damaged'],
])('the cause leaves out the path, which stands beside it: %j', (problem, cause) => {
  expect(causeOf(problem)).toBe(cause)
})

describe('groups', () => {
  const lineOf = (problems: readonly ReturnType<typeof unreadable>[]) =>
    groupProblems(problems).map((group) => describeGroup(group))

  test('one problem is its path and cause, a few are their paths, many the directories', () => {
    const fault = 'cannot be read: permission denied [EACCES]'
    expect(lineOf([unreadable('a/b.md')])).toEqual([`a/b.md: ${fault}`])
    expect(lineOf(['a/b.md', 'c.md', ''].map(unreadable))).toEqual([`3 files: ${fault}: a/b.md, c.md, .`])
    const many = Array.from({ length: 1_000 }, (_, n) => unreadable(`${n % 2 ? 'locked' : `d${n % 16}`}/${n}.md`))
    expect(lineOf([unreadable('top.md'), ...many])).toEqual([
      `1,001 files: ${fault}: 500 in locked/, 63 in d0/, 63 in d2/, 375 in 7 more directories`,
    ])
    expect(lineOf(['a', 'b', 'c', 'd'].map(unreadable))).toEqual([`4 files: ${fault}: 4 in ./`])
  })

  test('several files in doubt are spoken of as several', () => {
    const inDoubt = (path: string) => ({ path, ...IN_DOUBT })
    expect(lineOf([inDoubt('a'), inDoubt('b')])).toEqual([
      '2 files: not known whether they arrived; checked next run [upload-in-doubt]: a, b',
    ])
  })

  test('sizes in parentheses tell no causes apart', () => {
    const large = (path: string, size: string) => ({
      path,
      code: 'large',
      message: `larger than maxSize (${size} KiB); raise it`,
    })
    expect(lineOf([large('a', '2')])).toEqual(['a: larger than maxSize (2 KiB); raise it [large]'])
    expect(lineOf([large('a', '2'), large('b', '3')])).toEqual(['2 files: larger than maxSize; raise it [large]: a, b'])
  })

  test('every problem is in one group', () => {
    const problem = fc.record({
      path: fc.string(),
      code: fc.constantFrom('EACCES', 'busy'),
      message: fc.oneof(fc.string(), fc.constant('(1) x'), fc.constant('(2) x')),
    })
    fc.assert(
      fc.property(fc.array(problem), (problems) => {
        const grouped = groupProblems(problems).flatMap((group) => group.problems)
        expect(new Set(grouped)).toEqual(new Set(problems))
        expect(grouped.length).toBe(problems.length)
      }),
    )
  })
})
