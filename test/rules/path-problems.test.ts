import { describe, expect, test } from 'vitest'
import { describeSkipped, kindOfSkipped, skipProblem } from '../../src/rules/path-problems.ts'

describe('an entry that is not sent', () => {
  test.each([
    ['socket', 'a socket, which is never sent'],
    ['pipe', 'a pipe, which is never sent'],
    ['device', 'a device, which is never sent'],
  ] as const)('an entry that is no file is unsupported, and no problem: %s', (reason, words) => {
    expect(skipProblem({ reason })).toBeUndefined()
    expect(kindOfSkipped({ reason })).toBe('unsupported')
    expect(describeSkipped({ reason })).toBe(words)
  })

  test('an entry that must be renamed is a problem', () => {
    const message = 'its name is not UTF-8; rename it'
    expect(skipProblem({ reason: 'name-not-utf8' })).toEqual({ code: 'name-not-utf8', message })
  })

  test.each([
    [undefined, 'larger than maxSize; raise maxSize, or leave it out with an ignore rule'],
    ['2 of 1 MiB', 'larger than maxSize (2 of 1 MiB); raise maxSize, or leave it out with an ignore rule'],
  ])('a file that is too large is a problem: %s', (detail, message) => {
    const skipped = detail === undefined ? { reason: 'too-large' as const } : { reason: 'too-large' as const, detail }
    expect(skipProblem(skipped)).toEqual({ code: 'over-max-size', message })
  })

  test.each([
    ['symlink', 'a symbolic link, which shelfd does not follow'],
    ['other-file-system', 'on another file system'],
    ['empty', 'empty'],
  ] as const)('an entry left out on purpose is no problem: %s', (reason, words) => {
    expect(skipProblem({ reason })).toBeUndefined()
    expect(kindOfSkipped({ reason })).toBe('ignored')
    expect(describeSkipped({ reason })).toBe(words)
  })
})
