const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** `1.4 MB`, by powers of 1,000. */
export function formatSize(sizeBytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, sizeBytes)) / 3))
  return new Intl.NumberFormat('en', {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power === 0 ? 0 : 1,
  }).format(sizeBytes / 1_000 ** power)
}

/** Day and minute, as the reader's system writes them. */
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
