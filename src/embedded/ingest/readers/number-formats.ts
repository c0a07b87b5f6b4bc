import { DAY_MS } from '../../../foundation/text/times.ts'

/** The kind of value that a number in a cell is, by its number format (ECMA-376, 18.8.30). */
export type NumberKind = 'number' | 'percent' | 'date' | 'time' | 'duration'

const BUILT_IN: Readonly<Record<number, NumberKind>> = {
  ...kinds('percent', [9, 10]),
  ...kinds('date', [14, 15, 16, 17, 22]),
  ...kinds('time', [18, 19, 20, 21, 45, 47]),
  ...kinds('duration', [46]),
  // Dates of East Asian calendars.
  ...kinds('date', [27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]),
  ...kinds('time', [32, 33, 34, 35, 55, 56]),
}

function kinds(kind: NumberKind, ids: readonly number[]): Readonly<Record<number, NumberKind>> {
  return Object.fromEntries(ids.map((id) => [id, kind]))
}

/** `code` is the format's own text, for those that are not built in. */
export function numberKindOf(id: number, code: string | undefined): NumberKind {
  return code === undefined ? (BUILT_IN[id] ?? 'number') : kindOfCode(code)
}

function kindOfCode(code: string): NumberKind {
  // Text that is quoted or escaped, and colours, have no meaning.
  const [bare = ''] = code.replace(/"[^"]*"|\\.|_.|\*./g, '').split(';')
  if (/\[(?:h+|m+|s+)\]/i.test(bare)) return 'duration'
  const marks = bare.replace(/\[[^\]]*\]/g, '').replace(/general/i, '')
  if (/[yd]/i.test(marks) || /mmm/i.test(marks)) return 'date'
  if (/[hs]/i.test(marks)) return 'time'
  if (/m/i.test(marks)) return 'date'
  return marks.includes('%') ? 'percent' : 'number'
}

const EPOCH_1900_MS = Date.UTC(1899, 11, 30)
const EPOCH_1904_MS = Date.UTC(1904, 0, 1)
/** The calendar of 1900 has a 29th of February that never was; before it, days count from one day later. */
const FIRST_RIGHT_DAY = 60

/** A number as a reader of the sheet sees it: `2024-02-29`, `2024-02-29 18:30`, `09:15`, `30:00:00`, `25%`, `1234.5`. */
export function writeNumber(value: number, kind: NumberKind, is1904: boolean): string {
  if (kind === 'percent') return `${Number((value * 100).toPrecision(12))}%`
  if (kind === 'number' || !Number.isFinite(value)) return String(value)
  const seconds = Math.round(value * 86_400)
  if (kind === 'duration') return `${Math.floor(seconds / 3_600)}:${clock(seconds % 3_600).slice(3)}`
  if (kind === 'time' && Math.abs(seconds) < 86_400) return clock(seconds).replace(/:00$/, '')
  const shift = !is1904 && value < FIRST_RIGHT_DAY ? 1 : 0
  const date = new Date((is1904 ? EPOCH_1904_MS : EPOCH_1900_MS) + shift * DAY_MS + seconds * 1_000)
  if (value < 0 || Number.isNaN(date.getTime())) return String(value)
  const [day = '', time = ''] = date.toISOString().slice(0, 19).split('T')
  return time === '00:00:00' ? day : `${day} ${time.replace(/:00$/, '')}`
}

function clock(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(11, 19)
}
