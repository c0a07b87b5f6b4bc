/** States of a resource's processing: the interface's `ingestion_status`. */
export const INGESTION_STATUSES = [
  'not_started',
  'running',
  'completed',
  'completed_with_warnings',
  'partial',
  'failed',
] as const

export type IngestionStatus = (typeof INGESTION_STATUSES)[number]

/** The meaning of a status for a client; `unknown` is an error state, never success. */
export type IngestionOutcome = 'pending' | 'searchable' | 'partial' | 'failed' | 'unknown'

const OUTCOMES: Readonly<Record<IngestionStatus, IngestionOutcome>> = {
  not_started: 'pending',
  running: 'pending',
  completed: 'searchable',
  completed_with_warnings: 'searchable',
  partial: 'partial',
  failed: 'failed',
}

export function isIngestionStatus(value: unknown): value is IngestionStatus {
  return typeof value === 'string' && Object.hasOwn(OUTCOMES, value)
}

/** Returns what any value of `ingestion_status` means. */
export function ingestionOutcome(status: unknown): IngestionOutcome {
  return isIngestionStatus(status) ? OUTCOMES[status] : 'unknown'
}
