import { expect, test } from 'vitest'
import { contestedIds, decideUpload, type UploadCandidate, uploadPriority } from '../../src/rules/decide-upload.ts'

const NOW_MS = 1_000_000

const NEW: UploadCandidate = { state: 'new', isSetAside: false, retryAt: null, isTried: false, hasDirectory: true }

/** The decision; for a file that waits, also which single event would end the wait. */
function describeDecision(candidate: UploadCandidate): string {
  const { state } = candidate
  const decision = decideUpload(candidate, NOW_MS)
  const events: Readonly<Record<string, Partial<UploadCandidate>>> = {
    'its upload': state === 'sending' ? { state: 'stored' } : {},
    'a search': state === 'doubt' ? { state: 'stored' } : {},
    'the quarantine': { retryAt: NOW_MS },
    'the user': { isSetAside: false },
    'the next run': { isTried: false },
    'its directory': { hasDirectory: true },
  }
  const ending = Object.keys(events).filter((event) => {
    return decideUpload({ ...candidate, ...events[event] }, NOW_MS) !== 'wait'
  })
  return decision === 'wait' ? `wait for ${ending.join(', ')}` : decision
}

test.each<[what: string, candidate: Partial<UploadCandidate>, decision: string]>([
  ['a new content', {}, 'upload'],
  ['a new content that this run tried', { isTried: true }, 'wait for the next run'],
  ['a new content whose directory is missing', { hasDirectory: false }, 'wait for its directory'],
  ['a content that is on its way', { state: 'sending' }, 'wait for its upload'],
  ['a content in doubt', { state: 'doubt' }, 'wait for a search'],
  ['a content in doubt that this run tried', { state: 'doubt', isTried: true }, 'wait for a search'],
  ['a refused content in quarantine', { state: 'refused', retryAt: NOW_MS + 1 }, 'wait for the quarantine'],
  ['a refused content whose quarantine is over', { state: 'refused', retryAt: NOW_MS }, 'upload'],
  ['a refused content that this run tried', { state: 'refused', isTried: true }, 'wait for the next run'],
  ['a refused content that was set aside', { state: 'refused', isSetAside: true }, 'wait for the user'],
  ['a new content that was set aside before it changed', { isSetAside: true }, 'upload'],
  ['a stored content', { state: 'stored' }, 'alias'],
  ['a stored content whose directory is missing', { state: 'stored', hasDirectory: false }, 'alias'],
])('the upload is decided for %s', (_, candidate, expected) => {
  expect(describeDecision({ ...NEW, ...candidate })).toBe(expected)
})

const named = (resourceId: string, bytes: string) => ({ resourceId, sha256: Buffer.from(bytes) })

test('an id is contested when different bytes were answered with it', () => {
  const answers = [named('a', 'one'), named('b', 'two'), named('b', 'two'), named('c', 'three'), named('c', 'four')]
  expect([...contestedIds([...answers, named('c', 'three')])]).toEqual(['c'])
  expect([...contestedIds([])]).toEqual([])
})

test.each([
  { doubts: 0, failedTries: 0, priority: 'first' },
  { doubts: 1, failedTries: 0, priority: 'last' },
  { doubts: 0, failedTries: 1, priority: 'last' },
  { doubts: 3, failedTries: 2, priority: 'last' },
])('a content that failed is sent after all that never did: %j', ({ priority, ...content }) => {
  expect(uploadPriority(content)).toBe(priority)
})
