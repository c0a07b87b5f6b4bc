const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `3 days`, `2 h`, `5 min`, `12 s`: one unit, rounded down, for people. */
export function formatSpan(spanMs: number): string {
  if (spanMs >= 2 * DAY_MS) return `${Math.floor(spanMs / DAY_MS)} days`
  if (spanMs >= HOUR_MS) return `${Math.floor(spanMs / HOUR_MS)} h`
  if (spanMs >= MINUTE_MS) return `${Math.floor(spanMs / MINUTE_MS)} min`
  return `${Math.max(0, Math.floor(spanMs / SECOND_MS))} s`
}

/** `03:12` today, `2026-11-20 03:12` otherwise; in the time zone of the process. */
export function formatTime(timeMs: number, nowMs: number): string {
  const time = new Date(timeMs)
  const clock = `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`
  const day = dayOf(time)
  return day === dayOf(new Date(nowMs)) ? clock : `${day} ${clock}`
}

function dayOf(time: Date): string {
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
