/** The states of a resource's processing, which the interface calls `ingestion_status`. */
export const INGESTION_STATUSES = [
  'not_started',
  'running',
  'completed',
  'completed_with_warnings',
  'partial',
  'failed',
] as const

export type IngestionStatus = (typeof INGESTION_STATUSES)[number]

/** What a status means for a client; `unknown` counts as an error. */
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

/** Returns what a value of `ingestion_status` means; `unknown` for one that the interface does not name. */
export function ingestionOutcome(status: unknown): IngestionOutcome {
  return isIngestionStatus(status) ? OUTCOMES[status] : 'unknown'
}
