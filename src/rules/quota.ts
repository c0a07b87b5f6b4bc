import { formatSize } from '../foundation/units.ts'

/** What bounds the new contents of a run; null means no bound. */
export interface UploadLimits {
  readonly newPerRun: number | null
  readonly newPerDay: number | null
  readonly newBytesPerRun: number | null
}

/** What counts for the limits already: each send, whatever came of it, since each may have cost something. */
export interface QuotaUse {
  readonly inRun: number
  readonly inDay: number
  readonly bytesInRun: number
}

/** The limit that holds a content back, by the name of its setting. */
export type HoldingLimit = keyof UploadLimits | 'inIngestion'

/** What one limit held back in a run. */
export interface HeldBack {
  readonly limit: HoldingLimit
  /** Contents, or bytes for `newBytesPerRun`. */
  readonly value: number
  /** Contents that wait. */
  readonly contents: number
  /** When the limit first leaves room, in ISO 8601; null: the next run sends what it allows. */
  readonly freesAt: string | null
}

/** The limit by which one more content of `sizeBytes` may not be sent now, or undefined when it may. */
export function holdingLimit(limits: UploadLimits, used: QuotaUse, sizeBytes: number): keyof UploadLimits | undefined {
  if (limits.newPerRun !== null && used.inRun >= limits.newPerRun) return 'newPerRun'
  if (limits.newPerDay !== null && used.inDay >= limits.newPerDay) return 'newPerDay'
  if (limits.newBytesPerRun !== null && used.bytesInRun + sizeBytes > limits.newBytesPerRun) return 'newBytesPerRun'
  return undefined
}

/** `held back by limits.newPerDay (20000 in 24 hours); there is room again from 2026-11-22T03:12:00.000Z` */
export function describeHold({ limit, value, freesAt }: Omit<HeldBack, 'contents'>): string {
  const amounts: Readonly<Record<HoldingLimit, string>> = {
    newPerRun: `${value} in a run`,
    newPerDay: `${value} in 24 hours`,
    newBytesPerRun: `${formatSize(value)} in a run`,
    inIngestion: `${value} at the same time`,
  }
  const when = freesAt === null ? 'the next run goes on' : `there is room again from ${freesAt}`
  return `held back by limits.${limit} (${amounts[limit]}); ${when}`
}
