import { expect, test } from 'vitest'
import { isBatchDone, nextUploadDelayMs, nextWork, type WorkTimes } from '../../src/rules/next-work.ts'

const NOW = 1_000
const NEVER = Number.POSITIVE_INFINITY

/** A mirror that is up to date. */
const IDLE: WorkTimes = { scanAtMs: NEVER, uploadAtMs: NEVER, notBeforeMs: 0, isQuiesced: false }

const work = { kind: 'work' }
const wait = (wakeAtMs: number) => ({ kind: 'wait', wakeAtMs })

test.each([
  ['works when a scan is due', { scanAtMs: NOW }, work],
  ['works when uploads are due', { uploadAtMs: 0 }, work],
  ['waits for what is due first', { scanAtMs: 3_000, uploadAtMs: 2_000 }, wait(2_000)],
  ['waits for an event when nothing is planned', {}, wait(NEVER)],
  ['waits out the delay after a failure', { scanAtMs: 0, notBeforeMs: 5_000 }, wait(5_000)],
  ['works when the delay after a failure is over', { scanAtMs: 0, notBeforeMs: NOW }, work],
  ['waits while another run has the mirror', { scanAtMs: 0, isQuiesced: true }, wait(NEVER)],
])('a mirror controller %s', (_, times, expected) => {
  expect(nextWork({ ...IDLE, ...times }, NOW)).toEqual(expected)
})

test.each([
  ['is done when nothing is left', {}, {}, true],
  ['is not done when work is due', { uploadAtMs: NOW }, {}, false],
  ['is not done when another run goes first', { scanAtMs: 0, isQuiesced: true }, {}, false],
  ['waits for files to settle', {}, { isSettling: true }, false],
  ['waits for the service', {}, { trouble: 'waiting' }, false],
  ['does not wait for an operator', {}, { trouble: 'halted' }, true],
  ['does not wait for a limit', {}, { trouble: 'held', isSettling: true }, true],
] as const)('a batch %s', (_, times, awaited, isDone) => {
  const nothing = { trouble: undefined, isSettling: false }
  expect(isBatchDone({ ...IDLE, ...times }, { ...nothing, ...awaited }, NOW)).toBe(isDone)
})

test.each([
  ['endless when nothing is left', {}, NEVER],
  ['none for what came while the run ended', { mayHaveMore: true, retryInMs: 60_000 }, 0],
  ['that of the failed content', { retryInMs: 60_000 }, 60_000],
  ['ten seconds for a content that is due', { retryInMs: 0 }, 10_000],
  ['ten minutes for contents above a limit', { isHeldBack: true }, 600_000],
  ['shorter when a failed content is due earlier', { isHeldBack: true, retryInMs: 60_000 }, 60_000],
  ['no longer when a failed content is due later', { isHeldBack: true, retryInMs: 7_200_000 }, 600_000],
])('the delay before the next upload is %s', (_, left, delayMs) => {
  const nothing = { mayHaveMore: false, retryInMs: null, isHeldBack: false }
  expect(nextUploadDelayMs({ ...nothing, ...left })).toBe(delayMs)
})
