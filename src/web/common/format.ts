/** Returns the date and the time to the minute in the format of the user's system. */
export function formatTime(isoTime: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(isoTime))
}

/** Returns `1 file` or `1,200 files`. */
export function counted(count: number, thing: string, things = `${thing}s`): string {
  return `${formatNumber(count)} ${count === 1 ? thing : things}`
}

/** Returns a number such as `1,200`. */
export function formatNumber(value: number): string {
  return new Intl.NumberFormat('en').format(value)
}
