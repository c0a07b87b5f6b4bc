/** What a mirror controller has planned; times are monotonic milliseconds, Infinity: nothing is planned. */
export interface PlannedWork {
  /** The next scan, or paths that may have changed are settled. */
  readonly observeAtMs: number
  /** The next look for something to upload or, also while uploads are held back, to follow. */
  readonly uploadAtMs: number
  /** After a failure no work begins earlier. */
  readonly notBeforeMs: number
  /** Another run has the mirror now. */
  readonly isQuiesced: boolean
}

export type NextWork = { readonly kind: 'work' } | { readonly kind: 'wait'; readonly untilMs: number }

/** Decides whether a mirror controller works now, or until when it waits for an event. */
export function nextWork(planned: PlannedWork, nowMs: number): NextWork {
  if (planned.isQuiesced) return { kind: 'wait', untilMs: Number.POSITIVE_INFINITY }
  const dueMs = dueMsOf(planned)
  return dueMs <= nowMs ? { kind: 'work' } : { kind: 'wait', untilMs: dueMs }
}

/** What a mirror controller that has nothing to do now waits for. */
export interface Awaited {
  /** The state after the last failure; undefined: the last work succeeded. */
  readonly trouble: 'waiting' | 'held' | 'halted' | undefined
  /** Changed files are not settled yet. */
  readonly isSettling: boolean
}

/** Returns whether nothing is left of a batch, which waits for the service and for files to settle, but not for an operator. */
export function isBatchDone(planned: PlannedWork, { trouble, isSettling }: Awaited, nowMs: number): boolean {
  const isExpected = trouble === undefined ? isSettling : trouble === 'waiting'
  return !isExpected && dueMsOf(planned) > nowMs
}

function dueMsOf({ observeAtMs, uploadAtMs, notBeforeMs }: PlannedWork): number {
  return Math.max(notBeforeMs, Math.min(observeAtMs, uploadAtMs))
}

/** The least retry delay: a content that is due but was not uploaded waits for something else, such as its directory. */
const SHORTEST_RETRY_MS = 10_000
/** Limits count the uploads of a span of time, so that they leave room again after a while. */
const LIMIT_DELAY_MS = 10 * 60_000

/** What a run of a mirror controller that succeeded leaves. */
export interface LeftWork {
  /** Files that came while the run ended. */
  readonly mayHaveLeft: boolean
  /** Milliseconds until a failed content is due again; null: there is none. */
  readonly retryInMs: number | null
  /** Limits held back some contents. */
  readonly isHeldBack: boolean
}

/** The delay before the next upload after a run that succeeded; Infinity: until something changes. */
export function nextUploadDelayMs({ mayHaveLeft, retryInMs, isHeldBack }: LeftWork): number {
  if (mayHaveLeft) return 0
  const retryMs = retryInMs === null ? Number.POSITIVE_INFINITY : Math.max(SHORTEST_RETRY_MS, retryInMs)
  return isHeldBack ? Math.min(LIMIT_DELAY_MS, retryMs) : retryMs
}
