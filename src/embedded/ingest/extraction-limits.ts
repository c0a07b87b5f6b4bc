/** Bounds of the extraction of one document; a document that exceeds one of them never ends as `completed`. */
export interface ExtractionLimits {
  /** Time for an empty document; each MiB adds one second. */
  readonly timeMs: number
  /** JavaScript heap of the child process. */
  readonly heapMiB: number
  /** Resident memory of the child process. */
  readonly memoryMiB: number
  /** A passage has about 2,000 characters. */
  readonly maxPassages: number
  /** The service ends a child process that has been idle this long. */
  readonly idleMs: number
}

export const EXTRACTION_LIMITS: ExtractionLimits = {
  timeMs: 60_000,
  heapMiB: 512,
  memoryMiB: 1_024,
  maxPassages: 250_000,
  idleMs: 5_000,
}

/**
 * Time for the text of one picture. Seconds would do on an idle machine, a minute for noise; but recognition has the lowest priority, and
 * a picture must not end otherwise because other programs were busy.
 */
export const RECOGNIZING_MS = 600_000

/** Returns the time that the extraction of a document of this size may take. */
export function timeLimitMs({ timeMs }: ExtractionLimits, sizeBytes: number): number {
  return timeMs + (sizeBytes / 2 ** 20) * 1_000
}
