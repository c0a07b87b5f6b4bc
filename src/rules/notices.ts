import { z } from 'zod'
import { counted, escapeText, truncateText } from '../foundation/text/safe-text.ts'
import { HOUR_MS, isoTime } from '../foundation/text/times.ts'
import { formatDuration } from '../foundation/text/units.ts'

/** A lasting failure that a person must be told. */
export interface Cause {
  /** `service`, `store`, or of a mirror: `mirror:NAME` (it is stopped), `files:NAME`, `overdue:NAME`. */
  readonly key: string
  /** Distinguishes causes under one key; empty where there is only one. */
  readonly code: string
  readonly message: string
}

/** A cause with one of these keys keeps every mirror from being up to date. */
const SHARED_KEYS = ['service', 'store'] as const

export function mirrorKey(kind: 'mirror' | 'files' | 'overdue', mirror: string): string {
  return `${kind}:${mirror}`
}

/** Returns undefined for SHARED_KEYS. */
function mirrorOfKey(key: string): string | undefined {
  const colon = key.indexOf(':')
  return colon === -1 ? undefined : key.slice(colon + 1)
}

const announced = z.object({
  key: z.string(),
  /** All codes that were announced under the key. */
  codes: z.array(z.string()).readonly(),
  message: z.string(),
})

/** Kept in the store. Times are wall clock. */
export const noticeState = z.object({
  announced: z.array(announced).readonly(),
  /** When notices were sent in the last hour. */
  sentAt: z.array(z.number()).readonly(),
  /** No notice is sent before this time, because the last one failed. */
  retryAt: z.number().nullable(),
  /** When each mirror was last up to date, or first seen. */
  upToDateAt: z.record(z.string(), z.number()).readonly(),
})

export type NoticeState = z.infer<typeof noticeState>
type Announced = z.infer<typeof announced>

export const NOTHING_ANNOUNCED: NoticeState = { announced: [], sentAt: [], retryAt: null, upToDateAt: {} }

export interface MirrorSituation {
  readonly name: string
  /** `unknown`: the mirror may be catching up, or is held back. */
  readonly state: 'up-to-date' | 'behind' | 'paused' | 'unknown'
  /** When the mirror last could send: at its last batch, or now if it has no schedule. */
  readonly triedAt: number
}

export interface Situation {
  readonly nowMs: number
  readonly causes: readonly Cause[]
  /** Keys that were checked: an announced cause with one of them is over if `causes` lacks it. Causes with other keys stay open. */
  readonly judged: ReadonlySet<string>
  readonly mirrors: readonly MirrorSituation[]
}

/** `failures` or `recoveries` is not empty. */
export interface Notice {
  readonly failures: readonly Cause[]
  readonly recoveries: readonly Cause[]
  /** How many causes are open, including those of this notice. */
  readonly open: number
}

interface Decision {
  readonly state: NoticeState
  readonly notice: Notice | undefined
}

/** Bounds the notices about causes that come and go; further changes are announced later. */
export const MAX_NOTICES_PER_HOUR = 10
/** A notice that reached no receiver is sent again after this time. */
export const RETRY_MS = 5 * 60_000

/**
 * Announces each cause once, and its end. A mirror that has been behind for `overdueMs` is a cause too, unless another cause explains it.
 * A clock that was set back only delays notices.
 */
export function decideNotice(before: NoticeState, seen: Situation, overdueMs: number | null): Decision {
  const upToDateAt = Object.fromEntries(seen.mirrors.map((mirror) => [mirror.name, lastUpToDate(before, mirror, seen)]))
  const earlier = before.announced.filter(({ key }) => isStillThere(key, seen))
  const overdue = overdueMs === null ? [] : listOverdue(before, seen, earlier, overdueMs)
  const causes = [...seen.causes, ...overdue]
  const failures = uniqueCauses(causes).filter((cause) => !wasAnnounced(earlier, cause))
  const ended = earlier.filter(({ key }) => isJudged(key, seen) && causes.every((cause) => cause.key !== key))
  const sentAt = before.sentAt.filter((time) => time <= seen.nowMs && seen.nowMs - time < HOUR_MS)
  const state = { ...before, announced: earlier, sentAt, upToDateAt }
  if (failures.length + ended.length === 0) return { state: { ...state, retryAt: null }, notice: undefined }
  if (sentAt.length >= MAX_NOTICES_PER_HOUR || mustWait(before, seen.nowMs)) return { state, notice: undefined }
  const announced = announce(
    earlier.filter((one) => !ended.includes(one)),
    failures,
  )
  return {
    state: { announced, sentAt: [...sentAt, seen.nowMs], retryAt: null, upToDateAt },
    notice: { failures, recoveries: ended.map(lastCause), open: announced.length },
  }
}

/** Returns the state after a notice reached no receiver, so that it is sent again. */
export function afterFailedNotice(before: NoticeState, decided: NoticeState, nowMs: number): NoticeState {
  return { ...decided, announced: before.announced, retryAt: nowMs + RETRY_MS }
}

/** Never later than now, since the clock may have been set back. */
function lastUpToDate({ upToDateAt }: NoticeState, { name, state }: MirrorSituation, { nowMs }: Situation): number {
  if (state === 'up-to-date' || state === 'paused') return nowMs
  const recorded = Object.hasOwn(upToDateAt, name) ? upToDateAt[name] : undefined
  return Math.min(recorded ?? nowMs, nowMs)
}

function listOverdue(before: NoticeState, seen: Situation, earlier: readonly Announced[], overdueMs: number): Cause[] {
  return seen.mirrors.flatMap((mirror) => {
    const { name, state, triedAt } = mirror
    const key = mirrorKey('overdue', name)
    const forMs = triedAt - lastUpToDate(before, mirror, seen)
    if (state !== 'behind' || forMs < overdueMs) return []
    const explaining: readonly string[] = [...SHARED_KEYS, mirrorKey('mirror', name), mirrorKey('files', name)]
    const isExplained = [...seen.causes, ...earlier].some((cause) => explaining.includes(cause.key))
    if (isExplained && earlier.every((one) => one.key !== key)) return []
    return [{ key, code: '', message: `${name} has not been up to date for ${formatDuration(forMs)}` }]
  })
}

/** Returns whether a cause still concerns something: causes of mirrors that were removed end without a notice. */
function isStillThere(key: string, { mirrors }: Situation): boolean {
  const mirror = mirrorOfKey(key)
  return mirror === undefined || mirrors.some(({ name }) => name === mirror)
}

function isJudged(key: string, { judged, mirrors }: Situation): boolean {
  if (judged.has(key)) return true
  return mirrors.some(
    ({ name, state }) => mirrorKey('overdue', name) === key && (state === 'up-to-date' || state === 'paused'),
  )
}

function wasAnnounced(announced: readonly Announced[], { key, code }: Cause): boolean {
  return announced.some((one) => one.key === key && one.codes.includes(code))
}

function uniqueCauses(causes: readonly Cause[]): Cause[] {
  return [...new Map(causes.map((cause) => [`${cause.key}\n${cause.code}`, cause])).values()]
}

function announce(earlier: readonly Announced[], failures: readonly Cause[]): Announced[] {
  const byKey = new Map(earlier.map((one) => [one.key, one]))
  for (const { key, code, message } of failures) {
    byKey.set(key, { key, codes: [...(byKey.get(key)?.codes ?? []), code], message })
  }
  return [...byKey.values()]
}

function lastCause({ key, codes, message }: Announced): Cause {
  return { key, code: codes.at(-1) ?? '', message }
}

/** A time that is further away than RETRY_MS is ignored, because the clock was set back since it was recorded. */
function mustWait({ retryAt }: NoticeState, nowMs: number): boolean {
  return retryAt !== null && nowMs < retryAt && retryAt - nowMs <= RETRY_MS
}

type NoticeEvent = 'failure' | 'recovery' | 'test'

export interface NoticeMessage {
  readonly event: NoticeEvent
  readonly host: string
  /** ISO 8601 */
  readonly time: string
  /** One line. */
  readonly subject: string
  readonly text: string
  readonly problems: readonly Cause[]
  readonly recovered: readonly Cause[]
  /** How many problems are open. */
  readonly open: number
}

interface Sender {
  readonly host: string
  readonly nowMs: number
}

const MAX_CAUSES = 10
const MAX_MESSAGE = 300

/** Returns a message of bounded length, whatever the causes are. */
export function describeNotice({ failures, recoveries, open }: Notice, sender: Sender): NoticeMessage {
  const problems = failures.map(bounded)
  const recovered = recoveries.map(bounded)
  const [first] = problems
  const earlier = open - problems.length
  const news =
    problems.length === 1 && first
      ? first.message
      : problems.length > 1
        ? counted(problems.length, 'new problem')
        : open === 0
          ? 'all is well again'
          : `${counted(recovered.length, 'problem')} solved, ${open} left`
  const lines = [
    ...listed('', problems),
    ...listed('Solved: ', recovered),
    ...(earlier > 0 && problems.length > 0 ? [`${counted(earlier, 'earlier problem')} not solved yet.`] : []),
    ...(open > 0 ? ['See: shelfd status'] : []),
  ]
  return {
    ...messageOf(problems.length > 0 ? 'failure' : 'recovery', sender, news, lines),
    problems: problems.slice(0, MAX_CAUSES),
    recovered: recovered.slice(0, MAX_CAUSES),
    open,
  }
}

export function describeTest(sender: Sender): NoticeMessage {
  return messageOf('test', sender, 'this is a test', ['shelfd will notify you here when something goes wrong.'])
}

function messageOf(event: NoticeEvent, { host, nowMs }: Sender, news: string, lines: readonly string[]): NoticeMessage {
  const time = isoTime(nowMs)
  const subject = truncateText(`shelfd on ${host}: ${news}`, MAX_MESSAGE)
  return { event, host, time, subject, text: lines.join('\n'), problems: [], recovered: [], open: 0 }
}

function listed(label: string, causes: readonly Cause[]): string[] {
  const shown = causes
    .slice(0, MAX_CAUSES)
    .map(({ message, code }) => `${label}${message}${code === '' ? '' : ` [${code}]`}`)
  return causes.length > MAX_CAUSES ? [...shown, `${label}and ${causes.length - MAX_CAUSES} more`] : shown
}

function bounded({ key, code, message }: Cause): Cause {
  return { key: escapeText(key), code, message: truncateText(escapeText(message), MAX_MESSAGE) }
}
