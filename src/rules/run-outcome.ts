import type { ErrorCode, ShelfdError } from '../foundation/errors.ts'
import type { SyncSummary, Verdict } from './sync-summary.ts'

/** How a run ended. The command line maps each to an exit code. */
export const runOutcomes = ['done', 'failures', 'temporary', 'pending', 'held-back', 'interrupted'] as const
export type RunOutcome = (typeof runOutcomes)[number]

/** The verdict in the history. A run that a user stopped is `interrupted`, not failed. */
export type RecordedVerdict = Verdict | 'interrupted'

/** The file did not cause these: the service was unreachable, busy or slow. */
const TEMPORARY: ReadonlySet<string> = new Set<ErrorCode>([
  'service-unreachable',
  'service-unavailable',
  'service-full',
  'service-throttling',
  'answer-late',
])

/**
 * Returns `failures` while anything needs attention, even from earlier runs; `temporary` if another run may complete the uploads;
 * `held-back` if a limit held back uploads; `pending` if ingestion still runs and the run waits for it (`isWaiting`).
 */
export function runOutcome(mirrors: readonly SyncSummary[], isWaiting: boolean): RunOutcome {
  if (mirrors.some(hasLastingFailures)) return 'failures'
  if (mirrors.some(({ problems }) => problems.length > 0)) return 'temporary'
  if (mirrors.some((mirror) => mirror.uploads.heldBack > 0)) return 'held-back'
  if (isWaiting && mirrors.some((mirror) => mirror.ingestion.pending > 0)) return 'pending'
  return 'done'
}

/** Returns the outcome of a run that an error stopped. A user or a limit that stops a run is no failure. */
export function stoppedOutcome({ kind, code }: Pick<ShelfdError, 'kind' | 'code'>): RunOutcome {
  if (kind === 'interrupted') return 'interrupted'
  return code === 'limit-reached' ? 'held-back' : 'failures'
}

export function recordedVerdict(outcome: RunOutcome): RecordedVerdict {
  return outcome === 'interrupted' ? outcome : verdictOf(outcome)
}

export function verdictOf(outcome: RunOutcome): Verdict {
  if (outcome === 'done') return 'ok'
  return outcome === 'failures' ? 'failed' : 'incomplete'
}

function hasLastingFailures({ uploads, directories, ingestion, problems }: SyncSummary): boolean {
  const isTemporary = problems.length > 0 && problems.every(({ code }) => TEMPORARY.has(code))
  const failed = uploads.inDoubt + directories.failed + ingestion.partial + ingestion.failed + ingestion.unknown
  return failed > 0 || (!isTemporary && uploads.failed + problems.length > 0)
}
