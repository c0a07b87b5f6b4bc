import { describe, expect, test } from 'vitest'
import { type Cause, describeNotice, describeTest } from '../../src/rules/notices.ts'

const SENDER = { host: 'here', nowMs: 0 }

const FULL: Cause = { key: 'store', code: 'disk-full', message: 'the disk is full' }
const FILES: Cause = { key: 'files:A', code: '', message: 'A: 2 files need attention' }
const many = (count: number): Cause[] =>
  Array.from({ length: count }, (_, index) => ({ key: `mirror:${index}`, code: 'root-missing', message: `${index}` }))

describe('the words of a notice', () => {
  test.each<[string, Parameters<typeof describeNotice>[0], event: string, news: string, lines: string[]]>([
    [
      'one problem is its own subject',
      { failures: [FULL], recoveries: [], open: 1 },
      'failure',
      'the disk is full',
      ['the disk is full [disk-full]', 'See: shelfd status'],
    ],
    [
      'several problems are counted',
      { failures: [FULL, FILES], recoveries: [], open: 2 },
      'failure',
      '2 new problems',
      ['the disk is full [disk-full]', 'A: 2 files need attention', 'See: shelfd status'],
    ],
    [
      'a new problem comes before a solved one, and earlier ones are mentioned',
      { failures: [FILES], recoveries: [FULL], open: 3 },
      'failure',
      'A: 2 files need attention',
      [
        'A: 2 files need attention',
        'Solved: the disk is full [disk-full]',
        '2 earlier problems not solved yet.',
        'See: shelfd status',
      ],
    ],
    [
      'the last solved problem means that all is well',
      { failures: [], recoveries: [FILES], open: 0 },
      'recovery',
      'all is well again',
      ['Solved: A: 2 files need attention'],
    ],
    [
      'a solved problem among others leaves those',
      { failures: [], recoveries: [FULL], open: 2 },
      'recovery',
      '1 problem solved, 2 left',
      ['Solved: the disk is full [disk-full]', 'See: shelfd status'],
    ],
  ])('a notice says what is new: %s', (_, notice, event, news, lines) => {
    const { subject, text, ...described } = describeNotice(notice, SENDER)
    expect(subject).toBe(`shelfd on here: ${news}`)
    expect(text.split('\n')).toEqual(lines)
    expect(described).toMatchObject({ event, problems: notice.failures, recovered: notice.recoveries })
  })

  test('a notice of many problems names ten and counts the others', () => {
    const { problems, recovered, text } = describeNotice({ failures: many(12), recoveries: many(11), open: 12 }, SENDER)
    expect([problems, recovered].map(({ length }) => length)).toEqual([10, 10])
    expect(text.split('\n')).toHaveLength(10 + 1 + 10 + 1 + 1)
    expect(text).toContain('\nand 2 more\n')
    expect(text).toContain('\nSolved: and 1 more\n')
  })

  test('a long message with line breaks cannot fill or forge a notice', () => {
    const forged = { ...FILES, message: `a\nSolved: ${'b'.repeat(1_000)}` }
    const { subject, text } = describeNotice({ failures: [forged], recoveries: [], open: 1 }, SENDER)
    expect(subject).toHaveLength(300)
    expect(text.split('\n')).toEqual([expect.stringMatching(/^a\\nSolved: b+…$/), 'See: shelfd status'])
  })

  test('a test reports no problem', () => {
    const none = { problems: [], recovered: [], open: 0, time: '1970-01-01T00:00:00.000Z' }
    expect(describeTest(SENDER)).toMatchObject({ ...none, event: 'test', subject: 'shelfd on here: this is a test' })
  })
})
