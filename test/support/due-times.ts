const MINUTE_MS = 60_000

/** Every due time in (fromMs, toMs], minute by minute; for the few forms of expressions used here. */
export function dueTimes(cron: string, fromMs: number, toMs: number): number[] {
  const [minute = '', hour = '', , , weekday = ''] = cron.split(' ')
  const isDue = (atMs: number) => {
    const date = new Date(atMs)
    const isHour =
      hour === '*' || (hour.startsWith('*/') ? date.getUTCHours() % 6 === 0 : date.getUTCHours() === Number(hour))
    const isWeekday = weekday === '*' || (date.getUTCDay() > 0 && date.getUTCDay() < 6)
    return minute.split(',').includes(String(date.getUTCMinutes())) && isHour && isWeekday
  }
  const count = Math.floor((toMs - fromMs) / MINUTE_MS)
  return Array.from({ length: Math.max(0, count) }, (_, index) => fromMs + (index + 1) * MINUTE_MS).filter(isDue)
}
