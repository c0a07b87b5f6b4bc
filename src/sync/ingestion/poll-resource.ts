import type { ResourceRecord } from '../../contract/records.ts'
import { type IngestionOutcome, ingestionOutcome } from '../../contract/states.ts'
import { isNotFound, ShelfdError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { reactToFailure } from '../../rules/react-to-failure.ts'
import { remarkOf, WITHOUT_TEXT } from '../../rules/without-text.ts'
import type { Connection, Engine } from '../engine.ts'
import { quarantineUntil } from '../quarantine.ts'
import type { FollowedResource } from './poll-schedule.ts'

const LONGEST_NOTE = 500

/** The state of a resource's ingestion. */
interface PollResult {
  readonly outcome: IngestionOutcome
  readonly status: string | null
  readonly note: string | null
  /** Why the resource needs attention; null when it does not. */
  readonly problem: string | null
}

/** A poll that failed, perhaps for a reason of this resource alone. */
export interface PollFailure {
  readonly error: ShelfdError
}

/** Polls a resource once (4.13); returns an error that may concern it alone, and throws one of the service as a whole. */
export async function pollResource(
  { client }: Connection,
  libraryId: string,
  resourceId: string,
  signal: AbortSignal,
): Promise<PollResult | PollFailure> {
  try {
    const resource = await client.pollResource(libraryId, resourceId, signal)
    const outcome = ingestionOutcome(resource.ingestion_status)
    const status = describeStatus(resource.ingestion_status)
    const note = readNote(resource)
    return { outcome, status, note, problem: describeEnd(outcome, status, note) }
  } catch (error) {
    if (isNotFound(error)) return { outcome: 'failed', status: null, note: null, problem: error.message }
    if (!(error instanceof ShelfdError) || !reactToFailure(error).mayBeItem) throw error
    return { error }
  }
}

/** Returns a status for people: bounded and escaped, because the service may send anything. */
function describeStatus(status: unknown): string {
  if (status === undefined) return 'missing'
  if (typeof status === 'object' && status !== null) return 'a value that is not a word'
  return truncateText(escapeText(String(status)), 64)
}

function describeEnd(outcome: IngestionOutcome, status: string, note: string | null): string | null {
  if (outcome === 'pending' || outcome === 'searchable') return null
  const end = outcome === 'unknown' ? `unknown ingestion state ${status}` : `ingestion ended ${status}`
  return note === null ? end : `${end}: ${note}`
}

/** Returns the service's remark beside the status, bounded and escaped; null if it has none. */
function readNote(resource: ResourceRecord): string | null {
  const { text_extracted: textExtracted, ingestion_warnings: warnings = [], ingestion_error: error = null } = resource
  const note = remarkOf({ textExtracted, warnings, error })
  return note === null ? null : truncateText(escapeText(note), LONGEST_NOTE)
}

export type FollowedPoll = PollResult & { readonly followed: FollowedResource }

/** The least interval between two writes for a pending resource whose status has not changed. */
const WRITE_SEEN_MS = 30_000

/** Records the answers of one round. Returns when resources that ended badly are due again (wall clock). */
export function recordPolls(engine: Engine, polls: readonly FollowedPoll[]): number[] {
  const ended = polls.filter(({ outcome }) => outcome !== 'pending')
  const seen = polls.filter((poll) => isNews(engine, poll))
  if (ended.length + seen.length === 0) return []
  // Relaxed, because resources that a power cut turns back to pending are polled again.
  return engine.store.writeRelaxed(() => {
    for (const poll of seen) recordSeen(engine, poll)
    return ended.flatMap((poll) => recordEnd(engine, poll))
  })
}

/** Quarantines a resource that could not be polled again and again. Returns when it is due again (wall clock). */
export function recordPollFailure(
  engine: Engine,
  { contentId, resourceId }: FollowedResource,
  { code, message }: ShelfdError,
): number {
  const { store, logger } = engine
  const retryAt = quarantineUntil(engine, contentId, code)
  store.write(() => store.contents.setProblem(contentId, { code, message, retryAt }))
  logger.warn('cannot poll a resource in ingestion; it is polled again later', { resourceId, code, reason: message })
  return retryAt
}

function isNews({ clock }: Engine, { followed, outcome, status }: FollowedPoll): boolean {
  const isOld = clock.monotonicMs() - followed.writtenMs >= WRITE_SEEN_MS
  return outcome === 'pending' && (isOld || status !== followed.writtenStatus)
}

function recordSeen({ store, clock }: Engine, { followed, status }: FollowedPoll): void {
  store.contents.setIngestionSeen(followed.contentId, status, clock.nowMs())
  if (followed.hasProblem === 1) store.contents.clearPollProblem(followed.contentId)
  followed.hasProblem = 0
  followed.writtenMs = clock.monotonicMs()
  followed.writtenStatus = status
}

function recordEnd(engine: Engine, { followed, outcome, status, note, problem }: FollowedPoll): number[] {
  const { store, clock, progress, metrics } = engine
  const nowMs = clock.nowMs()
  const searchableAt = outcome === 'searchable' ? nowMs : null
  store.contents.setIngestion(followed.contentId, { status, outcome, searchableAt, note, seenAt: nowMs })
  if (outcome === 'searchable') {
    if (note !== WITHOUT_TEXT) progress.searchable += 1
    metrics.searchableAfter(Math.max(0, nowMs - followed.uploadedAt))
  }
  if (problem === null) {
    store.contents.setProblem(followed.contentId, null)
    return []
  }
  const code = outcome === 'unknown' ? 'ingestion-unknown' : `ingestion-${outcome}`
  const retryAt = quarantineUntil(engine, followed.contentId, code)
  store.contents.setProblem(followed.contentId, { code, message: problem, retryAt })
  return [retryAt]
}
