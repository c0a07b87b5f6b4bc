import type { DoubtCause, ErrorKind } from '../foundation/errors.ts'
import { quarantineDurationMs, quarantineLeftMs } from './retry-delay.ts'

export function describeInDoubt(files: number): string {
  return `not known whether ${files === 1 ? 'it' : 'they'} arrived; checked next run`
}

/** The problem of a content in doubt that has no recorded one. */
export const IN_DOUBT = { code: 'upload-in-doubt', message: describeInDoubt(1) }

/** The earlier failures of a content when an upload of it ends in doubt. */
interface DoubtedContent {
  /** Earlier uploads of it that ended in doubt. */
  readonly doubts: number
  /** Earlier quarantines of it. */
  readonly failedTries: number
}

type DoubtReaction =
  /** A search decides: if it finds nothing, the content is uploaded again. */
  | { readonly kind: 'resend' }
  /** The file has a problem. After each quarantine, one search and at most one upload follow. */
  | { readonly kind: 'quarantine'; readonly code: Exclude<DoubtCause, 'interrupted'>; readonly durationMs: number }

/** Decides what follows an upload in doubt. The first doubt has no quarantine, so that a lost answer costs no time. */
export function reactToDoubt({ doubts, failedTries }: DoubtedContent, cause: DoubtCause): DoubtReaction {
  // A disk that was full has room again, or the next run stops at its first answer.
  if (cause === 'interrupted' || cause === 'service-full' || (doubts === 0 && failedTries === 0))
    return { kind: 'resend' }
  return { kind: 'quarantine', code: cause, durationMs: quarantineDurationMs(failedTries, cause) }
}

/** Returns whether to search for a content in doubt now: not while it is in quarantine or set aside. */
export function needsSearch(
  { retryAt, isSetAside }: { readonly retryAt: number | null; readonly isSetAside: number },
  nowMs: number,
): boolean {
  return isSetAside === 0 && quarantineLeftMs(retryAt, nowMs) === 0
}

/**
 * Returns whether a candidate that could not be compared blocks the upload. After a temporary failure it does, because a later
 * comparison may succeed; after any other failure, only if the content was in doubt more than once.
 */
export function blocksUpload({ kind }: { readonly kind: ErrorKind }, doubts: number): boolean {
  return kind === 'temporary' || doubts > 1
}
