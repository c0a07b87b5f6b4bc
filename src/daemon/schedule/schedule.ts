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
  /** Keeps which times were handled, so that a restart neither repeats nor misses a batch. */
  readonly store: Pick<Store, 'keyValues' | 'write'>
  readonly logger: Logger
  /** Runs a batch; due times before its end are skipped. */
  onDue(name: string): Promise<void>
}

export interface Schedules extends Disposable {
  /** Wall clock; null if the mirror has no schedule, or no time is due again. */
  nextBatchAt(name: string): number | null
  /** Call it after the machine woke or its clock was set. */
  check(): void
}

interface Scheduled extends ScheduleEntry {
  readonly due: DueTime
  readonly batch: { isRunning: boolean; hasLoggedSkip: boolean }
}

/** Bounds each sleep, because the wall clock may be set at any time. */
const MAX_SLEEP_MS = 60_000

/** Starts batches at cron times; one batch makes up for all missed or interrupted ones. Throws for an invalid expression. */
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

/** If the expression was changed, past due times of the old one are dropped. */
function openEntry(entry: ScheduleEntry, input: ScheduleInput): Scheduled {
  const { timeZone, clock, store } = input
  const nextAfter = readCronTimes(entry.cron, timeZone)
  const handled = readHandled(store.keyValues, entry.name)
  const isChanged = handled !== undefined && handled.cron !== entry.cron
  const changed = isChanged ? { cron: entry.cron, handledAt: clock.nowMs(), isUnderWay: false } : undefined
  if (changed) tryRecord(entry.name, changed, input, CHANGE_NOT_RECORDED)
  const last = changed ?? handled
  const handledAt = last?.isUnderWay ? undefined : last?.handledAt
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

/** Records a due batch before it starts, so that the batch counts as interrupted after a crash. */
function checkEntry(entry: Scheduled, input: ScheduleInput, stopped: AbortSignal): void {
  const nowMs = input.clock.nowMs()
  const dueAt = entry.due.at(nowMs)
  if (dueAt === null || dueAt > nowMs) return
  const handled = { cron: entry.cron, handledAt: nowMs, isUnderWay: true }
  // If that cannot be recorded, the batch stays due.
  if (!tryRecord(entry.name, handled, input, BEGIN_NOT_RECORDED)) return
  entry.due.handle(nowMs)
  if (!entry.batch.isRunning) void runBatch(entry, input, stopped)
  else logSkip(entry, input.logger)
}

const CHANGE_NOT_RECORDED =
  'The new times of batches cannot be recorded; after a restart, a batch that was due by the old times may run'
const BEGIN_NOT_RECORDED = 'A batch is due, but the store cannot be written; it starts once the store can be written'
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

/** Records that the batch has ended. If that fails, a restart runs the batch again. */
function recordEnded({ name }: Scheduled, input: ScheduleInput): void {
  const handled = readHandled(input.store.keyValues, name)
  if (handled) tryRecord(name, { ...handled, isUnderWay: false }, input, END_NOT_RECORDED)
}

function logSkip({ name, batch }: Scheduled, logger: Logger): void {
  if (batch.hasLoggedSkip) return
  batch.hasLoggedSkip = true
  logger.info('A batch still runs at its next due time, which is skipped', { mirror: name })
}

/** If a recorded time is further ahead of the clock than this, the clock was wrong when it was recorded. */
const MAX_STEP_BACK_MS = HOUR_MS

/** Finds the next due time of a schedule, although the wall clock may be set at any time. */
class DueTime {
  readonly #nextAfter: NextDue
  /** Undefined when the schedule was never handled. */
  #handledAt: number | undefined
  /** The time at which the clock was found far behind `#handledAt`. */
  #behindSince: number | undefined
  #computed: { readonly sinceMs: number; readonly dueAt: number | null } | undefined

  constructor(nextAfter: NextDue, handledAt: number | undefined) {
    this.#nextAfter = nextAfter
    this.#handledAt = handledAt
  }

  /** Returns the due time, which may be past; null if there is none. */
  at(nowMs: number): number | null {
    if (this.#handledAt === undefined) return nowMs
    const sinceMs = this.#sinceMs(this.#handledAt, nowMs)
    if (this.#computed?.sinceMs !== sinceMs) this.#computed = { sinceMs, dueAt: this.#nextAfter(sinceMs) }
    return this.#computed.dueAt
  }

  /** Marks all times up to now as handled. A small step back of the clock does not undo that. */
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
  /** Every due time up to this one had its batch or was skipped. */
  readonly handledAt: number
  /** A batch was started and has not ended. */
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
