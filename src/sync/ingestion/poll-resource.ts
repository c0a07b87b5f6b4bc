import type { ResourceRecord } from '../../contract/records.ts'
import { type IngestionOutcome, ingestionOutcome } from '../../contract/states.ts'
import { isNotFound, ShelfdError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { reactToFailure } from '../../rules/react-to-failure.ts'
import { remarkOf } from '../../rules/without-text.ts'
import type { Connection } from '../engine.ts'

const LONGEST_NOTE = 500

/** The state of a resource's ingestion. */
export interface PollAnswer {
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
): Promise<PollAnswer | PollFailure> {
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
