import { describe, expect, test } from 'vitest'
import { causeOfFiles, causesOfRun } from '../../src/rules/notice-causes.ts'
import { decideNotice, NOTHING_ANNOUNCED } from '../../src/rules/notices.ts'
import { needsPerson } from '../../src/rules/path-problems.ts'
import { emptySummary, type SyncSummary } from '../../src/rules/sync-summary.ts'

function summary(
  problems: readonly (readonly [path: string, code: string])[],
  more: Partial<SyncSummary> = {},
): SyncSummary {
  const mirror = { name: 'A', path: '/a', library: { id: '1', name: 'L' }, remotePath: '/A' }
  const found = problems.map(([path, code]) => ({ path, code, message: `because of ${code}`, retryAt: null }))
  return { ...emptySummary(mirror), problems: found, ...more }
}

const ALL = ['service', 'store', 'mirror:A', 'files:A']

describe('what a run says about causes', () => {
  const { uploads } = summary([])
  test.each<[string, SyncSummary, causes: string[], judged: string[], state: string]>([
    ['a run without a problem judges all, and the mirror is up to date', summary([]), [], ALL, 'up-to-date'],
    [
      'files that need somebody are one cause',
      summary([
        ['a', 'too-large'],
        ['b', 'unreadable'],
      ]),
      ['files:A '],
      ALL,
      'behind',
    ],
    ['a file that was busy needs nobody', summary([['a', 'busy']]), [], ALL, 'behind'],
    [
      'files that a limit holds back need nobody',
      summary([], { uploads: { ...uploads, heldBack: 3 } }),
      [],
      ALL,
      'behind',
    ],
    ['a guard stops the mirror', summary([['', 'root-emptied']]), ['mirror:A root-emptied'], [], 'behind'],
    ['a missing directory stops the mirror', summary([['', 'root-missing']]), ['mirror:A root-missing'], [], 'behind'],
    [
      'a refused credential concerns all mirrors',
      summary([['', 'credential-refused']]),
      ['service credential-refused'],
      [],
      'behind',
    ],
    ['a full disk concerns all mirrors', summary([['', 'disk-full']]), ['store disk-full'], [], 'behind'],
    ['a missing right concerns the mirror', summary([['', 'right-missing']]), ['mirror:A right-missing'], [], 'behind'],
    ['a service that is away says nothing', summary([['', 'service-unreachable']]), [], [], 'behind'],
    ['a limit that ends the run says nothing', summary([['', 'limit-reached']]), [], [], 'behind'],
    [
      'an unknown code stops the mirror',
      summary([['', 'of-a-later-version']]),
      ['mirror:A of-a-later-version'],
      [],
      'behind',
    ],
  ])('%s', (_, given, causes, judged, state) => {
    const found = causesOfRun([given], 7)
    expect(found.causes.map(({ key, code }) => `${key} ${code}`)).toEqual(causes)
    expect([...found.judged]).toEqual(judged)
    expect(found.mirrors).toEqual([{ name: 'A', state, triedAt: 7 }])
  })

  test('a message names some of the files', () => {
    const problems = ['a', 'b', 'c', 'd'].map((path) => [path, 'too-large'] as const)
    expect(causesOfRun([summary(problems)], 0).causes[0]?.message).toBe(
      'A: 4 files need attention: a (too-large), b (too-large), c (too-large), …',
    )
  })

  test('500 failed uploads after one locked file are a new cause, and three more files are not', () => {
    const causesFor = (count: number) => causeOfFiles('A', [{ code: 'service-error', count }])
    const overdueMs = null
    const seen = (count: number) => {
      const mirrors = [{ name: 'A', state: 'behind', triedAt: 0 } as const]
      return { nowMs: 0, causes: causesFor(count), judged: new Set<string>(), mirrors }
    }
    let state = NOTHING_ANNOUNCED
    const noticed = [1, 4, 501, 480, 502, 5_000].map((count) => {
      const decision = decideNotice(state, seen(count), overdueMs)
      state = decision.state
      return decision.notice !== undefined
    })
    expect(noticed).toEqual([true, false, true, false, false, true])
  })

  test('problems that are only counted are named by their codes', () => {
    const problems = [
      { code: 'too-large', count: 1_200 },
      { code: 'busy', count: 5 },
      { code: 'unreadable', count: 30 },
    ]
    const [cause] = causeOfFiles('A', problems)
    expect(cause?.message).toBe('A: 1,230 files need attention: too-large, unreadable')
  })

  test('one file that needs somebody is spoken of as one', () => {
    const [cause] = causeOfFiles('A', [{ path: 'a\nb', code: 'too-large' }])
    expect(cause?.message).toBe('A: 1 file needs attention: a\\nb (too-large)')
  })

  test('a service that comes back by itself needs nobody', () => {
    expect(['service-unreachable', 'connection-closed', 'answer-late'].map(needsPerson)).toEqual([false, false, false])
    expect(['too-large', 'ingestion-failed'].map(needsPerson)).toEqual([true, true])
  })
})
