import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBracketMatcher, createMatcher } from '../../../src/local/ignore/ignore-rule.ts'
import { createRootScope } from '../../../src/local/ignore/ignore-scope.ts'
import { createLinearMatcher } from '../../../src/local/ignore/linear-matcher.ts'

const piece = fc.constantFrom(
  'a',
  'b',
  'ab',
  '.',
  '*',
  '**',
  '?',
  '[ab]',
  '[!a]',
  '[a-c]',
  '[]a]',
  '[[:digit:]]',
  '\\*',
  '[a',
  '1',
  'é',
)
const part = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''))
const parts = fc.array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 4 })
const pattern = fc
  .tuple(fc.constantFrom('', '/'), parts, fc.constantFrom('', '', '/'))
  .map(([lead, all, tail]) => lead + all.join('/') + tail)
const name = fc
  .array(fc.constantFrom('a', 'b', 'c', '.', '1', '*', ']', '[', 'é'), { minLength: 1, maxLength: 6 })
  .map((all) => all.join(''))
const path = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '/'))
  .map(([names, tail]) => names.filter((one) => one !== '.' && one !== '..').join('/') + tail)
  .filter((text) => text !== '' && text !== '/')

describe('matching in linear time', () => {
  test('the linear matcher agrees with the regular expressions [F-FS-26]', () => {
    fc.assert(
      fc.property(pattern, path, (pattern, path) => {
        // A pattern without a slash is compared with names only.
        fc.pre(pattern.slice(0, -1).includes('/') || !path.slice(0, -1).includes('/'))
        const [expected, found] = [
          createMatcher(`!${pattern}`)(path),
          createLinearMatcher(pattern, createBracketMatcher)(path),
        ]
        expect({ pattern, path, found }).toEqual({ pattern, path, found: expected })
      }),
      { numRuns: 20_000 },
    )
  })

  test.each([
    ['a name', `${'*a'.repeat(40)}*b`],
    ['a directory', `${'*a'.repeat(40)}*b/`],
    ['a path', `/x/${'*a'.repeat(40)}*b/**/y*`],
    ['brackets', `${'*[a-z]'.repeat(40)}*b`],
  ])('matching of %s ends despite many wildcards [F-FS-26]', (_, costly) => {
    const scope = createRootScope({ ignore: [costly], include: [] })
    const long = `${'a'.repeat(250)}bc`
    expect(scope.decide(long, false)).toBeUndefined()
    expect(scope.decide(`x/${long}/y`, false)).toBeUndefined()
    expect(scope.decide(`x/${long}`, true)).toBeUndefined()
  })

  test.each([
    ['parts for any names', `${'a/**/'.repeat(8)}z`, `${'a/'.repeat(60)}y`],
    ['parts with two stars', `${'*a*/'.repeat(6)}z`, `${`${'a'.repeat(200)}/`.repeat(6)}y`],
    ['blanks within it', `a${' '.repeat(300_000)}b`, 'a/b'],
    ['stars in a row', `a${'*'.repeat(300_000)}b`, 'a/c'],
  ])('matching of a pattern with many %s ends [F-FS-26]', (_, costly, path) => {
    expect(createRootScope({ ignore: [costly], include: [] }).decide(path, false)).toBeUndefined()
  })

  test('a pattern of many wildcards finds its matches', () => {
    const scope = createRootScope({ ignore: ['*a*b*c*.md', '!*a*b*c*d*.md'], include: [] })
    expect(scope.decide('x/1a2b3c4.md', false)).toMatchObject({ pattern: '*a*b*c*.md' })
    expect(scope.decide('x/1a2b3c4d.md', false)).toBeUndefined()
    expect(scope.decide('x/1b2a3c4.md', false)).toBeUndefined()
  })
})
