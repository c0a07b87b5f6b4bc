/** Monotonic milliseconds; Infinity: not before something happens. */
export interface WorkTimes {
  /** A full scan is due, or changed files have settled. */
  readonly scanAtMs: number
  /** Polls resources also while uploads are held back. */
  readonly uploadAtMs: number
  /** No work begins before the end of the delay after a failure. */
  readonly notBeforeMs: number
  /** Another run works on the mirror. */
  readonly isQuiesced: boolean
}

export type NextWork = { readonly kind: 'work' } | { readonly kind: 'wait'; readonly wakeAtMs: number }

export function nextWork(times: WorkTimes, nowMs: number): NextWork {
  if (times.isQuiesced) return { kind: 'wait', wakeAtMs: Number.POSITIVE_INFINITY }
  const dueMs = dueMsOf(times)
  return dueMs <= nowMs ? { kind: 'work' } : { kind: 'wait', wakeAtMs: dueMs }
}

export interface IdleState {
  /** How the last work failed. */
  readonly trouble: 'waiting' | 'held' | 'halted' | undefined
  /** Changed files have not settled yet. */
  readonly isSettling: boolean
}

/** A batch waits for due work, the service and settling files, but not for a limit or an operator. */
export function isBatchDone(times: WorkTimes, { trouble, isSettling }: IdleState, nowMs: number): boolean {
  const isExpected = trouble === undefined ? isSettling : trouble === 'waiting'
  return !isExpected && dueMsOf(times) > nowMs
}

function dueMsOf({ scanAtMs, uploadAtMs, notBeforeMs }: WorkTimes): number {
  return Math.max(notBeforeMs, Math.min(scanAtMs, uploadAtMs))
}

/** A content that is due but was not uploaded waits for something else, such as its directory. */
const MIN_RETRY_MS = 10_000
/** Limits count the uploads of a time span, so they leave room after a while. */
const LIMIT_DELAY_MS = 10 * 60_000

export interface LeftWork {
  /** Files were reported while the run ended. */
  readonly mayHaveLeft: boolean
  /** Null: none failed. */
  readonly retryInMs: number | null
  readonly isHeldBack: boolean
}

/** After a successful run; Infinity: until something changes. */
export function nextUploadDelayMs({ mayHaveLeft, retryInMs, isHeldBack }: LeftWork): number {
  if (mayHaveLeft) return 0
  const retryMs = retryInMs === null ? Number.POSITIVE_INFINITY : Math.max(MIN_RETRY_MS, retryInMs)
  return isHeldBack ? Math.min(LIMIT_DELAY_MS, retryMs) : retryMs
}

const FIRST_REST_MS = 60_000
const MAX_REST_MS = 15 * 60_000

/** Between the commands of a configuration. */
interface RunWithHooks {
  /** The pause after the run before; 0: none. */
  readonly lastPauseMs: number
  /** The run was already due when that pause ended: it was caused during the run before, or shortly after. */
  readonly wasAwaited: boolean
  readonly hasFound: boolean
}

/**
 * Returns how long a mirror pauses after a run with commands. They may change its directory and so cause the next run, without end: each
 * run without findings doubles the pause.
 */
export function pauseAfterHooksMs({ lastPauseMs, wasAwaited, hasFound }: RunWithHooks): number {
  return wasAwaited && !hasFound ? Math.min(2 * lastPauseMs, MAX_REST_MS) : FIRST_REST_MS
}
