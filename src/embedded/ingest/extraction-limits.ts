/** What the extraction of one document may take; what takes more does not end as `completed`. */
export interface ExtractionLimits {
  /** Time for a document without any bytes; each MiB of it has a second more. */
  readonly timeMs: number
  /** JavaScript heap of the child process. */
  readonly heapMiB: number
  /** Resident memory of the child process. */
  readonly memoryMiB: number
  /** Of about 2,000 characters each. */
  readonly maxPassages: number
  /** A child process that has had nothing to do for so long is ended. */
  readonly idleMs: number
}

export const EXTRACTION_LIMITS: ExtractionLimits = {
  timeMs: 60_000,
  heapMiB: 256,
  memoryMiB: 512,
  maxPassages: 250_000,
  idleMs: 5_000,
}

/** The time that a document of this size may take. */
export function timeLimitMs({ timeMs }: ExtractionLimits, sizeBytes: number): number {
  return timeMs + (sizeBytes / 2 ** 20) * 1_000
}
