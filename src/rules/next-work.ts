/** Monotonic milliseconds; Infinity: not before something happens. */
export interface WorkTimes {
  /** A full scan is due, or changed files have settled. */
  readonly scanAtMs: number
  /** Uploads are due, or polls of resources, which happen also while uploads are held back. */
  readonly uploadAtMs: number
  /** After a failure no work begins before this time. */
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

/** Returns whether a scheduled batch has ended. It waits for due work, the service and settling files, not for a limit or an operator. */
export function isBatchDone(times: WorkTimes, { trouble, isSettling }: IdleState, nowMs: number): boolean {
  const isExpected = trouble === undefined ? isSettling : trouble === 'waiting'
  return !isExpected && dueMsOf(times) > nowMs
}

function dueMsOf({ scanAtMs, uploadAtMs, notBeforeMs }: WorkTimes): number {
  return Math.max(notBeforeMs, Math.min(scanAtMs, uploadAtMs))
}

/** Also for a content that is due already: it waits for something else, such as its directory. */
const MIN_RETRY_MS = 10_000
/** Some limits count the uploads of a time span, and so allow more after a while. */
const LIMIT_DELAY_MS = 10 * 60_000

export interface RemainingWork {
  /** Files were recorded while the run ended, so that it may not have sent all. */
  readonly mayHaveMore: boolean
  /** Null: none failed. */
  readonly retryInMs: number | null
  readonly isHeldBack: boolean
}

/** Returns the delay of the next uploads after a successful run; Infinity: none follow until something changes. */
export function nextUploadDelayMs({ mayHaveMore, retryInMs, isHeldBack }: RemainingWork): number {
  if (mayHaveMore) return 0
  const retryMs = retryInMs === null ? Number.POSITIVE_INFINITY : Math.max(MIN_RETRY_MS, retryInMs)
  return isHeldBack ? Math.min(LIMIT_DELAY_MS, retryMs) : retryMs
}

const FIRST_PAUSE_MS = 60_000
const MAX_PAUSE_MS = 15 * 60_000

/** A run with a configured command before or after it. */
interface RunWithHooks {
  /** The pause after the previous run; 0: there was none. */
  readonly lastPauseMs: number
  /** The run was due when that pause ended, so its cause came during the previous run, or shortly after. */
  readonly wasAwaited: boolean
  /** The run found changes. */
  readonly hasFound: boolean
}

/**
 * Returns how long a mirror pauses after a run with commands. A command that changes the mirror's directory causes the next run, and so
 * on without end. So each such run that finds no changes doubles the pause.
 */
export function pauseAfterHooksMs({ lastPauseMs, wasAwaited, hasFound }: RunWithHooks): number {
  return wasAwaited && !hasFound ? Math.min(2 * lastPauseMs, MAX_PAUSE_MS) : FIRST_PAUSE_MS
}
