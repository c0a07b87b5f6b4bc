import type { DoubtCause, ErrorKind } from '../foundation/errors.ts'
import { quarantineDurationMs, quarantineLeftMs } from './retry-delay.ts'

export function describeInDoubt(files: number): string {
  return `not known whether ${files === 1 ? 'it' : 'they'} arrived; checked next run`
}

/** The problem of a content in doubt for which none is recorded. */
export const IN_DOUBT = { code: 'upload-in-doubt', message: describeInDoubt(1) }

interface DoubtedContent {
  /** Earlier uploads that ended in doubt. */
  readonly doubts: number
  /** Earlier quarantines of the content. */
  readonly failedTries: number
}

type DoubtReaction =
  /** If a search finds nothing, the content is uploaded again. */
  | { readonly kind: 'resend' }
  /** After each quarantine, one search and at most one upload follow. */
  | { readonly kind: 'quarantine'; readonly code: Exclude<DoubtCause, 'interrupted'>; readonly durationMs: number }

/** The first doubt has no quarantine, so that a lost answer costs no time. */
export function reactToDoubt({ doubts, failedTries }: DoubtedContent, cause: DoubtCause): DoubtReaction {
  // A full service may have room again by the next run; otherwise that run stops at the first answer.
  if (cause === 'interrupted' || cause === 'service-full' || (doubts === 0 && failedTries === 0))
    return { kind: 'resend' }
  return { kind: 'quarantine', code: cause, durationMs: quarantineDurationMs(failedTries, cause) }
}

/** Returns false while the content is in quarantine or set aside. */
export function needsSearch(
  { retryAt, isSetAside }: { readonly retryAt: number | null; readonly isSetAside: number },
  nowMs: number,
): boolean {
  return isSetAside === 0 && quarantineLeftMs(retryAt, nowMs) === 0
}

/**
 * Returns whether a candidate that could not be compared blocks the upload. It does after a temporary failure, and after any other
 * failure if the content was in doubt more than once.
 */
export function blocksUpload({ kind }: { readonly kind: ErrorKind }, doubts: number): boolean {
  return kind === 'temporary' || doubts > 1
}
