const DAY_S = 86_400

const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const shortDayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

/** Returns labels of times (seconds since the epoch, `stepS` apart) in the format of the user's system; the first of a day has the date. */
export function tickLabels(times: readonly number[], stepS: number): string[] {
  const dates = times.map((time) => new Date(time * 1_000))
  if (stepS >= DAY_S) return dates.map((date) => shortDayFormat.format(date))
  return dates.map((date, index) => {
    const day = dayFormat.format(date)
    const before = dates[index - 1]
    const isNewDay = before === undefined || dayFormat.format(before) !== day
    return timeFormat.format(date) + (isNewDay ? `\n${day}` : '')
  })
}
