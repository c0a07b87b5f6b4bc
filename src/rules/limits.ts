import { z } from 'zod'
import { anyNumber, boundedNumber, wholeNumber } from '../foundation/text/bounds.ts'
import { formatDayAndTime } from '../foundation/text/times.ts'
import { formatSize, MAX_DURATION_MS, MAX_SIZE_BYTES } from '../foundation/text/units.ts'

const MAX_NEW = 1_000_000_000

/** Bounds of numbers in the configuration and in requests to the daemon. */
export const LIMIT_BOUNDS = {
  /** Each transfer or checker takes a connection or a thread. */
  transfers: wholeNumber(1, 64),
  checkers: wholeNumber(1, 64),
  inIngestion: wholeNumber(1, 1_000_000),
  newContents: wholeNumber(0, MAX_NEW),
  sizeBytes: wholeNumber(0, MAX_SIZE_BYTES),
  durationMs: anyNumber(0, MAX_DURATION_MS),
  requestsPerSecond: anyNumber(0.001, 1_000_000),
}

const contents = boundedNumber(LIMIT_BOUNDS.newContents).nullable()
const bytes = boundedNumber(LIMIT_BOUNDS.sizeBytes).nullable()

/** Null means no limit. */
export const uploadLimits = z.object({ newPerRun: contents, newPerDay: contents, newBytesPerRun: bytes })

export const heldBackShape = z.object({
  limit: z.enum([...uploadLimits.keyof().options, 'inIngestion', 'root', 'other-host']),
  value: z.number(),
  contents: z.number(),
  /** ISO 8601; null: the next run continues. */
  freesAt: z.string().nullable(),
})

export type UploadLimits = Readonly<z.infer<typeof uploadLimits>>
export type HeldBack = Readonly<z.infer<typeof heldBackShape>>
/** The setting of the limit, or another reason: `root`, the mirror's directory went away; `other-host`, another host sends the content. */
export type HoldingLimit = HeldBack['limit']

/** What counts towards the limits: all uploads, also failed ones, since each may have cost something. */
export interface QuotaUse {
  readonly inRun: number
  readonly inDay: number
  readonly bytesInRun: number
}

/** Returns the limit that keeps one more content from being sent; undefined if none does. */
export function holdingLimit(limits: UploadLimits, used: QuotaUse, sizeBytes: number): keyof UploadLimits | undefined {
  if (limits.newPerRun !== null && used.inRun >= limits.newPerRun) return 'newPerRun'
  if (limits.newPerDay !== null && used.inDay >= limits.newPerDay) return 'newPerDay'
  if (limits.newBytesPerRun !== null && used.bytesInRun + sizeBytes > limits.newBytesPerRun) return 'newBytesPerRun'
  return undefined
}

/** Returns how many resources each host may have in ingestion: an equal share, but at least one, so that each makes progress. */
export function ingestionShare(inIngestion: number, hosts: number): number {
  return Math.max(1, Math.floor(inIngestion / hosts))
}

/** Returns the most contents that this run may still send. The limit of bytes may allow fewer, since their sizes are unknown here. */
export function roomInRun({ newPerRun, newBytesPerRun }: UploadLimits, { inRun, bytesInRun }: QuotaUse): number {
  if (newBytesPerRun !== null && bytesInRun >= newBytesPerRun) return 0
  return newPerRun === null ? MAX_NEW : Math.max(0, newPerRun - inRun)
}

/** For example `held back by limits.newPerDay (20000 in 24 hours); the limit allows more from 2026-11-22 03:12`, in local time. */
export function describeHold({ limit, value, freesAt }: Omit<HeldBack, 'contents'>): string {
  if (limit === 'root')
    return "held back, since the mirror's directory went away; the next run continues once it is back"
  if (limit === 'other-host') return 'not sent, since another host sends the same contents; the next run continues'
  const amounts: Readonly<Record<Exclude<HoldingLimit, 'root' | 'other-host'>, string>> = {
    newPerRun: `${value} in a run`,
    newPerDay: `${value} in 24 hours`,
    newBytesPerRun: `${formatSize(value)} in a run`,
    inIngestion: `${value} at the same time`,
  }
  const when =
    freesAt === null ? 'the next run continues' : `the limit allows more from ${formatDayAndTime(Date.parse(freesAt))}`
  return `held back by limits.${limit} (${amounts[limit]}); ${when}`
}

/** Nothing is uploaded when the disk of the store has less free space, because each receipt must be recorded. */
export const RESERVE_BYTES = 64 * 2 ** 20
