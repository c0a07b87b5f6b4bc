import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { recordedVerdict, runOutcome, stoppedOutcome, verdictOf } from '../../src/rules/run-outcome.ts'
import { emptySummary, type SyncSummary } from '../../src/rules/sync-summary.ts'

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
  test('a run is done only when all is well', () => {
    expect(runOutcome([], true)).toBe('done')
    expect(runOutcome([well, well], true)).toBe('done')
    for (const bad of [...failures, heldBack, pending]) expect(runOutcome([well, bad], true)).not.toBe('done')
  })

  test('the outcome of a run is the worst of its mirrors', () => {
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

  test('a run is temporary when all its failures are', () => {
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

  test('a run with pending ingestion is done when nobody waits for it', () => {
    expect(runOutcome([pending], false)).toBe('done')
    expect(runOutcome([heldBack], false)).toBe('held-back')
    for (const bad of failures) expect(runOutcome([bad], false)).toBe('failures')
  })

  test('the verdict is ok only for a run that is done', () => {
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
    ['access', 'credential-refused', 'failures', 'failed'],
  ] as const)('a run that an error stopped is recorded by its cause: %s, %s', (kind, code, outcome, recorded) => {
    expect(stoppedOutcome({ kind, code })).toBe(outcome)
    expect(recordedVerdict(outcome)).toBe(recorded)
  })

  test('a run is temporary for each passing cause', () => {
    for (const code of ['service-unreachable', 'service-unavailable', 'service-throttling', 'answer-late']) {
      const away = summary((made) => {
        made.uploads.failed = 1
        made.problems = [{ path: 'a', code, message: code, retryAt: null }]
      })
      expect(runOutcome([away], false)).toBe('temporary')
    }
  })
})
