/** When a mirror controller has work, in monotonic milliseconds; Infinity: not before something happens. */
export interface WorkTimes {
  /** The next full scan is due, or changed files have settled and can be read. */
  readonly scanAtMs: number
  /** Uploads are tried next, and resources in ingestion polled, which goes on while uploads are held back. */
  readonly uploadAtMs: number
  /** The end of the delay after a failure: no work begins before it. */
  readonly notBeforeMs: number
  /** True while another run works on the mirror, so that this controller does nothing. */
  readonly isQuiesced: boolean
}

export type NextWork = { readonly kind: 'work' } | { readonly kind: 'wait'; readonly wakeAtMs: number }

/** Decides whether a mirror controller works now, or when it wakes up unless an event does so earlier. */
export function nextWork(times: WorkTimes, nowMs: number): NextWork {
  if (times.isQuiesced) return { kind: 'wait', wakeAtMs: Number.POSITIVE_INFINITY }
  const dueMs = dueMsOf(times)
  return dueMs <= nowMs ? { kind: 'work' } : { kind: 'wait', wakeAtMs: dueMs }
}

/** The state of a mirror controller between two pieces of work. */
export interface IdleState {
  /** How the last work failed; undefined if it succeeded. */
  readonly trouble: 'waiting' | 'held' | 'halted' | undefined
  /** Changed files have not settled yet. */
  readonly isSettling: boolean
}

/**
 * Returns whether a batch is done. A batch waits for due work, for the service and for files to settle; it does not wait for
 * a limit or for an operator.
 */
export function isBatchDone(times: WorkTimes, { trouble, isSettling }: IdleState, nowMs: number): boolean {
  const isExpected = trouble === undefined ? isSettling : trouble === 'waiting'
  return !isExpected && dueMsOf(times) > nowMs
}

function dueMsOf({ scanAtMs, uploadAtMs, notBeforeMs }: WorkTimes): number {
  return Math.max(notBeforeMs, Math.min(scanAtMs, uploadAtMs))
}

/** The shortest delay before a retry: a content that is due but was not uploaded waits for something else, such as its directory. */
const SHORTEST_RETRY_MS = 10_000
/** How often uploads above a limit are tried again: limits count the uploads of a time span, so they leave room after a while. */
const LIMIT_DELAY_MS = 10 * 60_000

/** What a successful run of a mirror controller left undone. */
export interface LeftWork {
  /** Files were reported while the run ended, and it may have missed them. */
  readonly mayHaveLeft: boolean
  /** Milliseconds until the next failed content is due again; null: none failed. */
  readonly retryInMs: number | null
  /** Limits held back some contents. */
  readonly isHeldBack: boolean
}

/** Returns the delay before the next uploads after a successful run; Infinity: until something changes. */
export function nextUploadDelayMs({ mayHaveLeft, retryInMs, isHeldBack }: LeftWork): number {
  if (mayHaveLeft) return 0
  const retryMs = retryInMs === null ? Number.POSITIVE_INFINITY : Math.max(SHORTEST_RETRY_MS, retryInMs)
  return isHeldBack ? Math.min(LIMIT_DELAY_MS, retryMs) : retryMs
}

const FIRST_REST_MS = 60_000
const LONGEST_REST_MS = 15 * 60_000

/** A run of a mirror between the commands that its configuration names. */
interface RunWithHooks {
  /** The rest after the run before; 0: there was none. */
  readonly lastRestMs: number
  /** It began as soon as that rest was over: its cause came during the run before, or shortly after. */
  readonly wasAwaited: boolean
  /** It found files that differ. */
  readonly hasFound: boolean
}

/**
 * Returns how long a mirror with such commands rests after a run. They may change its directory, and the watcher's reports of that would
 * begin the next run, and so on without end: each run in vain doubles the rest.
 */
export function restAfterHooksMs({ lastRestMs, wasAwaited, hasFound }: RunWithHooks): number {
  return wasAwaited && !hasFound ? Math.min(2 * lastRestMs, LONGEST_REST_MS) : FIRST_REST_MS
}
