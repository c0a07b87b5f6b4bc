export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export function isoTime(timeMs: number): string
export function isoTime(timeMs: number | null): string | null
export function isoTime(timeMs: number | null): string | null {
  if (timeMs === null) return null
  const wholeMs = Math.trunc(timeMs)
  const startMs = Math.floor(wholeMs / DAY_MS) * DAY_MS
  if (startMs !== lastDay.startMs) lastDay = { startMs, date: new Date(startMs).toISOString().slice(0, -13) }
  const ms = wholeMs - startMs
  const minutes = Math.trunc(ms / MINUTE_MS)
  const second = twoDigits(Math.trunc((ms % MINUTE_MS) / SECOND_MS))
  const clock = `${twoDigits(Math.trunc(minutes / 60))}:${twoDigits(minutes % 60)}:${second}`
  return `${lastDay.date}${clock}.${String(ms % SECOND_MS).padStart(3, '0')}Z`
}

/** The day that was formatted last: V8 takes 600 ns to format a time, and a report has two for each file. */
let lastDay = { startMs: Number.NaN, date: '' }

export function isoDate(timeMs: number): string {
  return isoTime(timeMs).slice(0, 10)
}

/** Reads `2026-01-31` or `2026-01-31 14:05`, in the time zone of the process. */
export function parseMoment(text: string): number | undefined {
  const [, day = '', clock = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[ T]([01]\d:[0-5]\d|2[0-3]:[0-5]\d))?$/.exec(text) ?? []
  // A day that does not exist, such as 02-31, becomes one of the next month.
  const time = new Date(`${day}T${clock}`)
  return !Number.isNaN(time.getTime()) && dayOf(time) === day ? time.getTime() : undefined
}

/** Returns `3 days`, `2 h`, `5 min` or `12 s`: one unit, rounded down. */
export function formatSpan(spanMs: number): string {
  if (spanMs >= 2 * DAY_MS) return `${Math.floor(spanMs / DAY_MS)} days`
  if (spanMs >= HOUR_MS) return `${Math.floor(spanMs / HOUR_MS)} h`
  if (spanMs >= MINUTE_MS) return `${Math.floor(spanMs / MINUTE_MS)} min`
  return `${Math.max(0, Math.floor(spanMs / SECOND_MS))} s`
}

/** Returns `03:12` for a time of today, otherwise `2026-11-20 03:12`, in the time zone of the process. */
export function formatTime(timeMs: number, nowMs: number): string {
  return formatDay(timeMs) === formatDay(nowMs) ? clockOf(new Date(timeMs)) : formatDayAndTime(timeMs)
}

export function formatDayAndTime(timeMs: number): string {
  const time = new Date(timeMs)
  return `${dayOf(time)} ${clockOf(time)}`
}

export function formatDay(timeMs: number): string {
  return dayOf(new Date(timeMs))
}

/** Formats a time like formatTime, but with seconds if it is within 15 minutes of now. */
export function timeOfDay(timeMs: number, nowMs: number): string {
  const isNear = Math.abs(timeMs - nowMs) < 15 * MINUTE_MS
  const time = new Date(timeMs)
  return isNear ? `${clockOf(time)}:${twoDigits(time.getSeconds())}` : formatTime(timeMs, nowMs)
}

function clockOf(time: Date): string {
  return `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`
}

function dayOf(time: Date): string {
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
