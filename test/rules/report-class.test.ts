import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CHECKED_CLASSES,
  type ContentFacts,
  classifyDifferent,
  classifyFile,
  classifyHidden,
  classifySuperseded,
  type Presence,
  REPORT_CLASSES,
} from '../../src/rules/report-class.ts'
import { WITHOUT_TEXT } from '../../src/rules/without-text.ts'

const text = fc.option(fc.string())
const content: fc.Arbitrary<ContentFacts> = fc.record({
  state: fc.constantFrom('new', 'sending', 'doubt', 'stored', 'refused'),
  outcome: fc.option(fc.constantFrom('pending', 'searchable', 'partial', 'failed', 'unknown')),
  ingestionStatus: text,
  ingestionNote: text,
  mime: fc.constantFrom('text/markdown', 'application/pdf', 'x'),
  size: fc.constantFrom(0, 1),
  secondLocation: fc.constantFrom(0, 1),
  problemCode: text,
  problemMessage: text,
  isSetAside: fc.constantFrom(0, 1),
})
const presence = fc.constantFrom<Presence>('listed', 'absent', 'unknown', 'unconfirmed', 'unasked')

const trouble = fc.record({ code: fc.constantFrom('unreadable', 'io-error', 'busy', 'vanished'), message: fc.string() })
const anyTrouble = fc.option(trouble)

const NOTHING_ELSE = { problem: null, heldBack: null }

test('a file is in exactly one known class [P19]', () => {
  fc.assert(
    fc.property(content, presence, anyTrouble, (content, presence, problem) => {
      expect(Object.keys(REPORT_CLASSES)).toContain(classifyFile(content, presence, { problem, heldBack: null }).class)
    }),
  )
})

test('a file is in sync only when stored and searchable', () => {
  fc.assert(
    fc.property(content, presence, anyTrouble, (content, presence, problem) => {
      const isInSync = classifyFile(content, presence, { problem, heldBack: null }).class === 'in-sync'
      const isThere = presence === 'listed' || presence === 'unasked'
      const isSearchable = content.state === 'stored' && content.outcome === 'searchable'
      expect(isInSync).toBe(problem === null && isThere && isSearchable)
    }),
  )
})

test('a file is missing only by a complete listing [P11]', () => {
  fc.assert(
    fc.property(content, presence, anyTrouble, (content, presence, problem) => {
      const isMissing = classifyFile(content, presence, { problem, heldBack: null }).class === 'missing-remotely'
      expect(isMissing).toBe(problem === null && content.state === 'stored' && presence === 'absent')
    }),
  )
})

test('a file with a problem waits if it changed, and needs attention otherwise', () => {
  fc.assert(
    fc.property(content, presence, trouble, (content, presence, problem) => {
      const waits = content.state === 'stored' ? 'changed' : 'local-only'
      const hasChanged = ['busy', 'vanished'].includes(problem.code)
      expect(classifyFile(content, presence, { problem, heldBack: null })).toEqual({
        class: hasChanged ? waits : 'needs-attention',
        reason: problem.message,
      })
    }),
  )
})

test('a file needs attention after every bad end [P6]', () => {
  for (const outcome of ['partial', 'failed', 'unknown'] as const) {
    const stored = {
      state: 'stored',
      outcome,
      ingestionStatus: 'x',
      ingestionNote: null,
      mime: 'x',
      size: 1,
      secondLocation: 0,
      isSetAside: 0,
    } as const
    const known = { ...stored, problemCode: null, problemMessage: null }
    expect(classifyFile(known, 'listed', NOTHING_ELSE).class).toBe('needs-attention')
  }
})

describe('a file that is not uploaded', () => {
  const stored = { ingestionStatus: null, ingestionNote: null, mime: 'text/plain', size: 1, secondLocation: 0 }
  const unsent = { ...stored, outcome: null, isSetAside: 0 }
  const well = { ...unsent, problemCode: null, problemMessage: null }
  const failed = { ...unsent, problemCode: 'service-error', problemMessage: 'the service answered 500' }

  test.each([
    [{ ...well, state: 'new' }, null, 'local-only', 'new'],
    [{ ...well, state: 'new' }, 'held back', 'local-only', 'held back'],
    [{ ...well, state: 'doubt' }, 'held back', 'local-only', 'in doubt'],
    [{ ...well, state: 'sending' }, 'held back', 'local-only', 'being sent'],
    [{ ...failed, state: 'doubt' }, null, 'needs-attention', 'the service answered 500'],
    [{ ...failed, state: 'doubt', problemMessage: null }, null, 'needs-attention', 'service-error'],
    [{ ...failed, state: 'refused' }, null, 'needs-attention', 'the service answered 500'],
    [{ ...well, state: 'refused' }, null, 'needs-attention', 'refused'],
    [{ ...failed, state: 'doubt', isSetAside: 1 }, null, 'needs-attention', 'set aside: the service answered 500'],
  ] as const)('a file that is not uploaded has the reason: %j', (content, heldBack, reportClass, reason) => {
    const setAside = content.isSetAside === 1 ? { state: 'set-aside' } : {}
    const expected = { class: reportClass, reason, ...setAside }
    expect(classifyFile(content, 'unasked', { problem: null, heldBack })).toEqual(expected)
  })
})

describe('a file that is uploaded', () => {
  const problem = { problemCode: null, problemMessage: null, isSetAside: 0 }
  const stored = {
    ...problem,
    state: 'stored',
    ingestionNote: null,
    mime: 'application/pdf',
    size: 1,
    secondLocation: 0,
  } as const
  const searchable = { ...stored, outcome: 'searchable', ingestionStatus: 'completed' } as const
  const failed = { ...stored, outcome: 'failed', ingestionStatus: 'failed' } as const
  const odd = { ...stored, outcome: 'unknown', ingestionStatus: 'paused' } as const

  test.each([
    [searchable, 'unknown', 'unknown', 'the listing is incomplete'],
    [searchable, 'absent', 'missing-remotely', 'the complete listing no longer shows it'],
    [
      searchable,
      'unconfirmed',
      'unknown',
      'the listing does not show it, and the service did not say whether it is there',
    ],
    [{ ...stored, outcome: null, ingestionStatus: null }, 'listed', 'processing', 'not polled yet'],
    [{ ...stored, outcome: 'pending', ingestionStatus: 'running' }, 'listed', 'processing', 'running'],
    [searchable, 'listed', 'in-sync', null],
    [{ ...searchable, ingestionNote: 'slow' }, 'listed', 'in-sync', 'searchable with warnings: slow'],
    [{ ...searchable, secondLocation: 1 }, 'listed', 'in-sync', 'a second location may exist'],
    [failed, 'listed', 'needs-attention', 'ingestion ended failed'],
    [{ ...failed, problemMessage: 'too old' }, 'listed', 'needs-attention', 'too old'],
    [odd, 'listed', 'needs-attention', 'ingestion is in the unknown state paused'],
  ] as const)('an uploaded file has its class and reason: %j, %s', (content, presence, reportClass, reason) => {
    expect(classifyFile(content, presence, NOTHING_ELSE)).toEqual({ class: reportClass, reason })
  })

  test('a file without text has its kind in the reason', () => {
    const content = { ...searchable, ingestionNote: WITHOUT_TEXT, secondLocation: 1 }
    expect(classifyFile(content, 'unasked', NOTHING_ELSE)).toEqual({
      class: 'in-sync',
      reason: `${WITHOUT_TEXT} (PDF); a second location may exist`,
      state: 'without-text',
      kindWithoutText: 'PDF',
    })
  })
})

test('the check of a report fails on all that somebody can resolve', () => {
  const passing = Object.keys(REPORT_CLASSES).filter((name) => ![...CHECKED_CLASSES].some((known) => known === name))
  expect(passing).toEqual(['in-sync', 'superseded', 'ignored'])
})

describe('signs and further rows', () => {
  test('each class has a sign of its own', () => {
    const signs = Object.values(REPORT_CLASSES)
    expect(new Set(signs).size).toBe(signs.length)
    expect(signs.every((sign) => sign.length === 1)).toBe(true)
  })

  test('the other rows have the documented classes and reasons', () => {
    expect(classifyDifferent(true)).toEqual({ class: 'changed', reason: 'changed since it was uploaded' })
    expect(classifyHidden()).toEqual({ class: 'unknown', reason: 'its directory cannot be read' })
    expect(classifyDifferent(false)).toEqual({ class: 'local-only', reason: 'new' })
    const failed = { outcome: 'failed', ingestionNote: null }
    const reasons = ['changed', 'gone', 'ignored', 'whatever'].map((reason) => classifySuperseded(reason, failed))
    expect(reasons.every((row) => row.class === 'superseded')).toBe(true)
    expect(reasons.map(({ reason }) => reason)).toEqual([
      'replaced by a newer version of its file',
      'gone: its file is no longer there',
      'left out: its file is not mirrored any more',
      'whatever',
    ])
    const found = classifySuperseded('gone', { outcome: 'searchable', ingestionNote: null })
    expect(found).toMatchObject({ reason: 'gone: its file is no longer there; still searchable', state: 'gone' })
  })
})
