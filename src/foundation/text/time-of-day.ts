/** A time in this computer's time zone: `14:05`, with seconds within 15 minutes of now, with the date on another day. */
export function timeOfDay(atMs: number, nowMs: number): string {
  const at = new Date(atMs)
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = `${two(at.getHours())}:${two(at.getMinutes())}`
  if (Math.abs(atMs - nowMs) < NEAR_MS) return `${minutes}:${two(at.getSeconds())}`
  const isToday = at.toDateString() === new Date(nowMs).toDateString()
  return isToday ? minutes : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${minutes}`
}

const NEAR_MS = 15 * 60_000
