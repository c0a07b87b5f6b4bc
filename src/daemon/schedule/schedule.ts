import type { Clock } from '../../foundation/clock.ts'
import { messageOf } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { HOUR_MS } from '../../foundation/text/times.ts'
import type { Store } from '../../store/open-store.ts'
import type { KeyValueQueries } from '../../store/tables/key-values.ts'
import { type NextDue, readCronTimes } from './cron-times.ts'

export interface ScheduleEntry {
  readonly name: string
  readonly cron: string
}

interface ScheduleInput {
  readonly timeZone: string | undefined
  readonly clock: Clock
  /** A restart neither repeats nor misses a batch. */
  readonly store: Pick<Store, 'keyValues' | 'write'>
  readonly logger: Logger
  /** Due times before its end are skipped. */
  onDue(name: string): Promise<void>
}

export interface Schedules extends Disposable {
  /** Wall clock; null for an unknown name, or when there is none. */
  nextBatchAt(name: string): number | null
  /** Call it after the machine woke or its clock was set. */
  check(): void
}

interface Scheduled extends ScheduleEntry {
  readonly due: DueTime
  readonly batch: { isRunning: boolean; hasLoggedSkip: boolean }
}

/** The wall clock may be set at any time. */
const MAX_SLEEP_MS = 60_000

/**
 * Starts batches at cron times. A batch that never ran or was interrupted is due at once, and one makes up for all missed times. Throws
 * for an invalid expression.
 */
export function startSchedules(entries: readonly ScheduleEntry[], input: ScheduleInput): Schedules {
  const stop = new AbortController()
  const scheduled = entries.map((entry) => openEntry(entry, input))
  const check = () => {
    for (const entry of scheduled) checkEntry(entry, input, stop.signal)
  }
  void checkOnTime(scheduled, check, input.clock, stop.signal)
  return {
    check,
    nextBatchAt: (name) => scheduled.find((entry) => entry.name === name)?.due.at(input.clock.nowMs()) ?? null,
    [Symbol.dispose]: () => stop.abort(),
  }
}

/** After a change of the expression, past due times of the old one are dropped. */
function openEntry(entry: ScheduleEntry, input: ScheduleInput): Scheduled {
  const { timeZone, clock, store } = input
  const nextAfter = readCronTimes(entry.cron, timeZone)
  const handled = readHandled(store.keyValues, entry.name)
  const isChanged = handled !== undefined && handled.cron !== entry.cron
  const changed = isChanged ? { cron: entry.cron, handledAt: clock.nowMs(), isUnderWay: false } : undefined
  if (changed) tryRecord(entry.name, changed, input, CHANGE_NOT_RECORDED)
  const known = changed ?? handled
  const handledAt = known?.isUnderWay ? undefined : known?.handledAt
  return { ...entry, due: new DueTime(nextAfter, handledAt), batch: { isRunning: false, hasLoggedSkip: false } }
}

async function checkOnTime(
  scheduled: readonly Scheduled[],
  check: () => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await Promise.resolve()
  while (!signal.aborted) {
    check()
    const nowMs = clock.nowMs()
    const waits = scheduled.map(({ due }) => (due.at(nowMs) ?? Number.POSITIVE_INFINITY) - nowMs)
    const nextMs = Math.min(MAX_SLEEP_MS, ...waits.filter((waitMs) => waitMs > 0))
    await clock.sleep(nextMs, signal).catch(() => {})
  }
}

/** Recorded before its start, so that a crash interrupts a known batch. */
function checkEntry(entry: Scheduled, input: ScheduleInput, stopped: AbortSignal): void {
  const nowMs = input.clock.nowMs()
  const dueAt = entry.due.at(nowMs)
  if (dueAt === null || dueAt > nowMs) return
  const handled = { cron: entry.cron, handledAt: nowMs, isUnderWay: true }
  // Unless that is recorded, the batch stays due.
  if (!tryRecord(entry.name, handled, input, BEGIN_NOT_RECORDED)) return
  entry.due.handle(nowMs)
  if (!entry.batch.isRunning) void runBatch(entry, input, stopped)
  else logSkip(entry, input.logger)
}

const CHANGE_NOT_RECORDED =
  'The new times of batches cannot be recorded; after a restart, one may run that was due by the old times'
const BEGIN_NOT_RECORDED = 'A batch is due, but the store cannot be written; it starts when that works again'
const END_NOT_RECORDED = 'Cannot record that a batch has ended; it may run once more after a restart'

/** Returns false, and warns, if the store cannot be written. */
function tryRecord(name: string, handled: HandledBatch, { store, logger }: ScheduleInput, warning: string): boolean {
  try {
    store.write(() => writeHandled(store.keyValues, name, handled))
    return true
  } catch (error) {
    logger.warn(warning, { mirror: name, reason: messageOf(error) })
    return false
  }
}

async function runBatch(entry: Scheduled, input: ScheduleInput, stopped: AbortSignal): Promise<void> {
  const { name, batch } = entry
  const { logger, onDue } = input
  batch.isRunning = true
  batch.hasLoggedSkip = false
  try {
    await onDue(name)
  } catch (error) {
    logger.error('A scheduled batch failed', { mirror: name, reason: messageOf(error) })
  } finally {
    batch.isRunning = false
  }
  // A stopped batch stays recorded as running, so that the next start continues it.
  if (!stopped.aborted) recordEnded(entry, input)
}

/** If that cannot be recorded, a restart runs the batch again. */
function recordEnded({ name }: Scheduled, input: ScheduleInput): void {
  const handled = readHandled(input.store.keyValues, name)
  if (handled) tryRecord(name, { ...handled, isUnderWay: false }, input, END_NOT_RECORDED)
}

function logSkip({ name, batch }: Scheduled, logger: Logger): void {
  if (batch.hasLoggedSkip) return
  batch.hasLoggedSkip = true
  logger.info('A batch still runs at its next due time, which is skipped', { mirror: name })
}

/** A clock that is further behind was wrong when that was recorded. */
const MAX_STEP_BACK_MS = HOUR_MS

/** The wall clock may be set at any time. */
class DueTime {
  readonly #nextAfter: NextDue
  /** Undefined when the schedule was never handled. */
  #handledAt: number | undefined
  /** The time when the clock was found far behind. */
  #behindSince: number | undefined
  #known: { readonly sinceMs: number; readonly dueAt: number | null } | undefined

  constructor(nextAfter: NextDue, handledAt: number | undefined) {
    this.#nextAfter = nextAfter
    this.#handledAt = handledAt
  }

  /** Past or future; null when there is none. */
  at(nowMs: number): number | null {
    if (this.#handledAt === undefined) return nowMs
    const sinceMs = this.#sinceMs(this.#handledAt, nowMs)
    if (this.#known?.sinceMs !== sinceMs) this.#known = { sinceMs, dueAt: this.#nextAfter(sinceMs) }
    return this.#known.dueAt
  }

  /** A small step back of the clock does not undo that. */
  handle(nowMs: number): void {
    this.#handledAt = nowMs
    this.#behindSince = undefined
  }

  #sinceMs(handledAt: number, nowMs: number): number {
    if (handledAt - nowMs <= MAX_STEP_BACK_MS) {
      this.#behindSince = undefined
      return handledAt
    }
    if (this.#behindSince === undefined || this.#behindSince - nowMs > MAX_STEP_BACK_MS) this.#behindSince = nowMs
    return this.#behindSince
  }
}

interface HandledBatch {
  readonly cron: string
  /** Every due time up to here had its batch or was skipped. */
  readonly handledAt: number
  /** True while a batch has been started and has not ended. */
  readonly isUnderWay: boolean
}

const PREFIX = 'schedule:'

export function readHandled(keyValues: KeyValueQueries, name: string): HandledBatch | undefined {
  const [, handledAt = '', underWay, cron] = /^(\d+)(\+?) (.+)$/.exec(keyValues.get(PREFIX + name) ?? '') ?? []
  return cron === undefined ? undefined : { cron, handledAt: Number(handledAt), isUnderWay: underWay !== '' }
}

export function writeHandled(
  keyValues: KeyValueQueries,
  name: string,
  { cron, handledAt, isUnderWay }: HandledBatch,
): void {
  keyValues.set(PREFIX + name, `${handledAt}${isUnderWay ? '+' : ''} ${cron}`)
}

export function listHandled(keyValues: KeyValueQueries): string[] {
  return keyValues.list(PREFIX).map(({ key }) => key.slice(PREFIX.length))
}

export function forgetHandled(keyValues: KeyValueQueries, name: string): void {
  keyValues.remove(PREFIX + name)
}
