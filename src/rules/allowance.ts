/** What bounds the new contents of a run; null means no bound. */
export interface SendLimits {
  readonly newPerRun: number | null
  readonly newPerDay: number | null
  readonly newBytesPerRun: number | null
}

export interface SentSoFar {
  readonly inRun: number
  readonly inDay: number
  readonly bytesInRun: number
}

export type HoldReason = 'limit-run' | 'limit-day' | 'limit-bytes'

/** Why one more content of `sizeBytes` may not be sent now, or undefined when it may. */
export function holdReason(limits: SendLimits, sent: SentSoFar, sizeBytes: number): HoldReason | undefined {
  if (limits.newPerRun !== null && sent.inRun >= limits.newPerRun) return 'limit-run'
  if (limits.newPerDay !== null && sent.inDay >= limits.newPerDay) return 'limit-day'
  if (limits.newBytesPerRun !== null && sent.bytesInRun + sizeBytes > limits.newBytesPerRun) return 'limit-bytes'
  return undefined
}
