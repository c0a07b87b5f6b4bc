/** Bounds of the extraction of one document; a document that exceeds one of them never ends as `completed`. */
export const EXTRACTION_LIMITS = {
  /** Time for an empty document; each MiB adds one second. */
  timeMs: 60_000,
  /** JavaScript heap of the child process. */
  heapMiB: 512,
  /** Resident memory of the child process. */
  memoryMiB: 1_024,
  /** A passage has about 2,000 characters. */
  maxPassages: 250_000,
  /** The service ends a child process that has been idle this long. */
  idleMs: 5_000,
}

export type ExtractionLimits = Readonly<typeof EXTRACTION_LIMITS>

/**
 * Time for the text of one picture. Seconds would do on an idle machine, a minute for noise; but recognition has the lowest priority, and
 * a picture must not end otherwise because other programs were busy.
 */
export const RECOGNIZING_MS = 600_000

/** Returns the time that the extraction of a document of this size may take. */
export function timeLimitMs({ timeMs }: ExtractionLimits, sizeBytes: number): number {
  return timeMs + (sizeBytes / 2 ** 20) * 1_000
}
