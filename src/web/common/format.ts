/** Returns day and minute as the reader's system writes them. */
export function formatTime(isoTime: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(isoTime))
}

/** `1 file`, `1,200 files`. */
export function counted(count: number, thing: string, things = `${thing}s`): string {
  return `${formatNumber(count)} ${count === 1 ? thing : things}`
}

/** `1,200`. */
export function formatNumber(value: number): string {
  return new Intl.NumberFormat('en').format(value)
}
