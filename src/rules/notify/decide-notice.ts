import { z } from 'zod'
import { formatDuration } from '../../foundation/text/units.ts'
import { type Cause, mirrorKey, mirrorOfKey, SHARED_KEYS } from './cause.ts'

/** A cause that was announced and is not over. */
const announced = z.object({
  key: z.string(),
  /** Every code that was announced under the key. */
  codes: z.array(z.string()).readonly(),
  /** The last message. */
  message: z.string(),
})

/** What outlives a process: what was announced, and when. Times are wall clock. */
export const noticeState = z.object({
  announced: z.array(announced).readonly(),
  /** When notices were sent in the last hour. */
  sentAt: z.array(z.number()).readonly(),
  /** No notice is sent before this, because the last one reached nobody; null: none failed. */
  retryAt: z.number().nullable(),
  /** When each mirror was last up to date, or first seen. */
  upToDateAt: z.record(z.string(), z.number()).readonly(),
})

export type NoticeState = z.infer<typeof noticeState>
export type Announced = z.infer<typeof announced>

export const NOTHING_ANNOUNCED: NoticeState = { announced: [], sentAt: [], retryAt: null, upToDateAt: {} }

export interface ObservedMirror {
  readonly name: string
  /** `unknown`: this observation says nothing of it; `paused`: a person wants it so. */
  readonly state: 'up-to-date' | 'behind' | 'paused' | 'unknown'
  /** When the mirror was last tried; the time now for one that sends at once. */
  readonly triedAt: number
}

/** What is known at one moment. */
export interface Observation {
  readonly nowMs: number
  readonly causes: readonly Cause[]
  /** The keys whose cause is over when `causes` has none; nothing is known of others. */
  readonly judged: ReadonlySet<string>
  /** Every mirror that there is. */
  readonly mirrors: readonly ObservedMirror[]
}

/** What a notice says; at least one of the two is not empty. */
export interface Notice {
  readonly failures: readonly Cause[]
  readonly recoveries: readonly Cause[]
  /** How many causes are not over, with those of this notice. */
  readonly open: number
}

export interface Decision {
  readonly state: NoticeState
  /** Undefined when there is nothing to say, or nothing may be said yet. */
  readonly notice: Notice | undefined
}

/** Causes that come and go cannot send more than this; what is held back is said later, as it is then. */
export const MOST_NOTICES_PER_HOUR = 10
const HOUR_MS = 3_600_000
export const RETRY_MS = 5 * 60_000

/**
 * Decides whether to notify: of each cause once until it is over, and of its end. `overdueMs`: a mirror that is behind for so
 * long is a cause of its own, unless another cause explains it; null: never. A clock that was set back delays at most.
 */
export function decideNotice(before: NoticeState, seen: Observation, overdueMs: number | null): Decision {
  const upToDateAt = Object.fromEntries(seen.mirrors.map((mirror) => [mirror.name, lastUpToDate(before, mirror, seen)]))
  const known = before.announced.filter(({ key }) => isKnown(key, seen))
  const overdue = overdueMs === null ? [] : listOverdue(before, seen, known, overdueMs)
  const causes = [...seen.causes, ...overdue]
  const failures = uniqueCauses(causes).filter((cause) => !wasAnnounced(known, cause))
  const ended = known.filter(({ key }) => isJudged(key, seen) && causes.every((cause) => cause.key !== key))
  const sentAt = before.sentAt.filter((time) => time <= seen.nowMs && seen.nowMs - time < HOUR_MS)
  const state = { ...before, announced: known, sentAt, upToDateAt }
  if (failures.length + ended.length === 0) return { state: { ...state, retryAt: null }, notice: undefined }
  if (sentAt.length >= MOST_NOTICES_PER_HOUR || mustWait(before, seen.nowMs)) return { state, notice: undefined }
  const announced = announce(
    known.filter((one) => !ended.includes(one)),
    failures,
  )
  return {
    state: { announced, sentAt: [...sentAt, seen.nowMs], retryAt: null, upToDateAt },
    notice: { failures, recoveries: ended.map(lastCause), open: announced.length },
  }
}

/** The state after a notice that reached nobody: it is said again some time later. */
export function afterNobodyReached(before: NoticeState, decided: NoticeState, nowMs: number): NoticeState {
  return { ...decided, announced: before.announced, retryAt: nowMs + RETRY_MS }
}

/** When a mirror was last up to date, or first seen; never later than now, as the clock may have been set back. */
function lastUpToDate({ upToDateAt }: NoticeState, { name, state }: ObservedMirror, { nowMs }: Observation): number {
  if (state === 'up-to-date' || state === 'paused') return nowMs
  // Every object has a `constructor`, and a mirror may have that name.
  const recorded = Object.hasOwn(upToDateAt, name) ? upToDateAt[name] : undefined
  return Math.min(recorded ?? nowMs, nowMs)
}

function listOverdue(before: NoticeState, seen: Observation, known: readonly Announced[], overdueMs: number): Cause[] {
  return seen.mirrors.flatMap((mirror) => {
    const { name, state, triedAt } = mirror
    const key = mirrorKey('overdue', name)
    const forMs = triedAt - lastUpToDate(before, mirror, seen)
    if (state !== 'behind' || forMs < overdueMs) return []
    const explaining: readonly string[] = [...SHARED_KEYS, mirrorKey('mirror', name), mirrorKey('files', name)]
    const isExplained = [...seen.causes, ...known].some((cause) => explaining.includes(cause.key))
    if (isExplained && known.every((one) => one.key !== key)) return []
    return [{ key, code: '', message: `${name} has not been up to date for ${formatDuration(forMs)}` }]
  })
}

/** Causes of mirrors that are no longer there are forgotten in silence. */
function isKnown(key: string, { mirrors }: Observation): boolean {
  const mirror = mirrorOfKey(key)
  return mirror === undefined || mirrors.some(({ name }) => name === mirror)
}

function isJudged(key: string, { judged, mirrors }: Observation): boolean {
  if (judged.has(key)) return true
  return mirrors.some(
    ({ name, state }) => mirrorKey('overdue', name) === key && (state === 'up-to-date' || state === 'paused'),
  )
}

function wasAnnounced(known: readonly Announced[], { key, code }: Cause): boolean {
  return known.some((one) => one.key === key && one.codes.includes(code))
}

function uniqueCauses(causes: readonly Cause[]): Cause[] {
  return [...new Map(causes.map((cause) => [`${cause.key}\n${cause.code}`, cause])).values()]
}

function announce(known: readonly Announced[], failures: readonly Cause[]): Announced[] {
  const byKey = new Map(known.map((one) => [one.key, one]))
  for (const { key, code, message } of failures) {
    byKey.set(key, { key, codes: [...(byKey.get(key)?.codes ?? []), code], message })
  }
  return [...byKey.values()]
}

function lastCause({ key, codes, message }: Announced): Cause {
  return { key, code: codes.at(-1) ?? '', message }
}

/** A time further ahead than any delay comes from a clock that was set back. */
function mustWait({ retryAt }: NoticeState, nowMs: number): boolean {
  return retryAt !== null && nowMs < retryAt && retryAt - nowMs <= RETRY_MS
}
