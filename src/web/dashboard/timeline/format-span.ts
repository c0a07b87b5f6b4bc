const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** `1.5 min`, `340 ms`; empty for nothing. */
export function formatSpan(spanMs: number | null): string {
  if (spanMs === null) return ''
  const [unit, lengthMs] = UNITS.find(([, length]) => spanMs >= length) ?? (['millisecond', 1] as const)
  const digits = { maximumFractionDigits: unit === 'millisecond' ? 0 : 1 }
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'short', ...digits }).format(spanMs / lengthMs)
}
