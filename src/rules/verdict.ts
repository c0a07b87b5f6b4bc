import type { SyncSummary } from './sync-summary.ts'

export type Verdict = 'ok' | 'incomplete' | 'failed'

/** What one run over all its mirrors comes to; the command line maps it to an exit code. */
export type RunOutcome = 'done' | 'failures' | 'pending' | 'held-back'

/**
 * `failures` while any file or ingestion needs attention, also when this run sent nothing; `held-back` when a limit kept
 * something; `pending` when everything was sent and ingestion was still going on at the deadline.
 */
export function runOutcome(mirrors: readonly SyncSummary[], isWaiting: boolean): RunOutcome {
  if (mirrors.some(hasFailures)) return 'failures'
  if (mirrors.some((mirror) => mirror.uploads.heldBack > 0)) return 'held-back'
  if (isWaiting && mirrors.some((mirror) => mirror.ingestion.pending > 0)) return 'pending'
  return 'done'
}

export function verdictOf(outcome: RunOutcome): Verdict {
  if (outcome === 'done') return 'ok'
  return outcome === 'failures' ? 'failed' : 'incomplete'
}

function hasFailures({ uploads, directories, ingestion, problems }: SyncSummary): boolean {
  const failed = uploads.failed + uploads.inDoubt + directories.failed
  return failed + ingestion.partial + ingestion.failed + ingestion.unknown > 0 || problems.length > 0
}
