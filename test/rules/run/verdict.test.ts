import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptySummary, type SyncSummary } from '../../../src/rules/run/sync-summary.ts'
import { recordedVerdict, runOutcome, stoppedOutcome, verdictOf } from '../../../src/rules/run/verdict.ts'

function summary(change: (summary: SyncSummary) => void): SyncSummary {
  const made = emptySummary({ name: 'm', path: '/m', library: { id: 'l', name: 'L' }, remotePath: '/m' })
  change(made)
  return made
}

const well = summary(() => {})
const failures = [
  summary(({ uploads }) => {
    uploads.failed = 1
  }),
  summary(({ uploads }) => {
    uploads.inDoubt = 1
  }),
  summary(({ directories }) => {
    directories.failed = 1
  }),
  summary(({ ingestion }) => {
    ingestion.partial = 1
  }),
  summary(({ ingestion }) => {
    ingestion.failed = 1
  }),
  summary(({ ingestion }) => {
    ingestion.unknown = 1
  }),
  summary((made) => {
    made.problems = [{ path: 'a', code: 'busy', message: 'busy', retryAt: null }]
  }),
]
const heldBack = summary(({ uploads }) => {
  uploads.heldBack = 1
})
const pending = summary(({ ingestion }) => {
  ingestion.pending = 1
})

describe('the outcome of a run', () => {
  test('is done only when all is well', () => {
    expect(runOutcome([], true)).toBe('done')
    expect(runOutcome([well, well], true)).toBe('done')
    for (const bad of [...failures, heldBack, pending]) expect(runOutcome([well, bad], true)).not.toBe('done')
  })

  test('is the worst of its mirrors, in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([well, ...failures, heldBack, pending]), (mirrors) => {
        const expected = mirrors.some((mirror) => failures.includes(mirror))
          ? 'failures'
          : mirrors.includes(heldBack)
            ? 'held-back'
            : mirrors.includes(pending)
              ? 'pending'
              : 'done'
        expect(runOutcome(mirrors, true)).toBe(expected)
      }),
    )
  })

  test('is temporary when all that failed was', () => {
    const failing = (...codes: string[]) =>
      summary((made) => {
        made.uploads.failed = codes.length
        made.problems = codes.map((code) => ({ path: code, code, message: code, retryAt: null }))
      })
    const away = failing('service-unavailable', 'answer-late')
    expect(runOutcome([well, away], true)).toBe('temporary')
    expect(runOutcome([heldBack, away, pending], true)).toBe('temporary')
    expect(runOutcome([away, failing('service-unavailable', 'service-error')], true)).toBe('failures')
    for (const bad of failures) expect(runOutcome([away, bad], true)).toBe('failures')
    expect(verdictOf('temporary')).toBe('incomplete')
  })

  test('does not wait when nobody waits', () => {
    expect(runOutcome([pending], false)).toBe('done')
    expect(runOutcome([heldBack], false)).toBe('held-back')
    for (const bad of failures) expect(runOutcome([bad], false)).toBe('failures')
  })

  test('is ok only when it is done', () => {
    expect(verdictOf('done')).toBe('ok')
    expect(verdictOf('failures')).toBe('failed')
    expect([verdictOf('pending'), verdictOf('held-back')]).toEqual(['incomplete', 'incomplete'])
  })
})

describe('a run that an error stopped', () => {
  test.each([
    ['interrupted', 'interrupted', 'interrupted', 'interrupted'],
    ['heldBack', 'limit-reached', 'held-back', 'incomplete'],
    ['heldBack', 'root-emptied', 'failures', 'failed'],
    ['refused', 'credential-refused', 'failures', 'failed'],
  ] as const)('is recorded as what stopped it: %s, %s', (reaction, code, outcome, recorded) => {
    expect(stoppedOutcome({ reaction, code })).toBe(outcome)
    expect(recordedVerdict(outcome)).toBe(recorded)
  })

  test('is temporary for each passing cause', () => {
    for (const code of ['service-unreachable', 'service-unavailable', 'service-throttling', 'answer-late']) {
      const away = summary((made) => {
        made.uploads.failed = 1
        made.problems = [{ path: 'a', code, message: code, retryAt: null }]
      })
      expect(runOutcome([away], false)).toBe('temporary')
    }
  })
})
