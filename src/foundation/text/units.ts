import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './times.ts'

const SIZE_UNITS: Readonly<Record<string, number>> = { '': 1, B: 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }
const DURATION_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
}

/** The largest size and duration that are accepted; now plus the duration is still a valid date. */
export const MAX_SIZE_BYTES = 2 ** 50
export const MAX_SIZE_TEXT = '1024TB'
export const MAX_DURATION_MS = 3_650 * DAY_MS
export const MAX_DURATION_TEXT = '3650d'

/** Reads `50M`, `50MB`, `50MiB`, `2g` or `1024` (powers of 1024). */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(?:([KMGT])(?:i?B)?|B)?$/i.exec(text.trim())
  if (!match?.[1]) return undefined
  const unit = SIZE_UNITS[(match[2] ?? '').toUpperCase()]
  const sizeBytes = Math.round(Number(match[1]) * (unit ?? Number.NaN))
  return sizeBytes <= MAX_SIZE_BYTES ? sizeBytes : undefined
}

/** Reads `500ms`, `30s`, `5m`, `1h`, `1h30m` or `2d`. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '0') return 0
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(trimmed)) return undefined
  let totalMs = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    totalMs += Number(amount) * (DURATION_UNITS[unit ?? ''] ?? Number.NaN)
  }
  return totalMs <= MAX_DURATION_MS ? totalMs : undefined
}

export function formatSize(sizeBytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = sizeBytes
  let index = 0
  // A value that would be shown as 1024 is shown in the next unit.
  while (Math.round(value) >= 1024 && index < units.length - 1) {
    value /= 1024
    index += 1
  }
  return `${index === 0 ? value : value.toFixed(value < 9.95 ? 1 : 0)} ${units[index]}`
}

/** Returns `850 ms`, `12.3 s`, `4m 05s` or `2h 10m`. The unit is that of the rounded duration. */
export function formatDuration(durationMs: number): string {
  if (Math.round(durationMs) < 1_000) return `${Math.round(durationMs)} ms`
  const tenths = Math.round(durationMs / 100)
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`
  const seconds = Math.round(durationMs / 1_000)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`
  const minutes = Math.round(durationMs / 60_000)
  return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`
}
