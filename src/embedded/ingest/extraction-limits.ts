/** Bounds of the extraction of one document. A document that exceeds one of them never becomes `completed`. */
export const EXTRACTION_LIMITS = {
  /** The time for an empty document; each MiB of a document adds one second. */
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

/** The time for recognizing one picture. An idle machine needs a minute at most, but recognition has the lowest priority. */
export const RECOGNIZING_MS = 600_000

/** Returns how long the extraction of a document of this size may take. */
export function timeLimitMs({ timeMs }: ExtractionLimits, sizeBytes: number): number {
  return timeMs + (sizeBytes / 2 ** 20) * 1_000
}
