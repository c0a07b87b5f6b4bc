import type { Checked } from '../../app/doctor/run-checks.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Level } from '../../rules/doctor-findings.ts'
import { displayWidth, wrapText } from './layout.ts'

type Marks = Readonly<Record<Level, string>>

export const SYMBOLS: Marks = { ok: '✓', unchecked: '-', warning: '!', failed: '✗' }
export const WORDS: Marks = { ok: 'ok     ', unchecked: '-      ', warning: 'warning', failed: 'FAILED ' }

interface Layout {
  readonly marks: Marks
  readonly nameWidth: number
  /** Columns of the terminal; undefined for a file or a pipe, whose lines are not wrapped. */
  readonly columns: number | undefined
}

/** On a narrow terminal the remedy, which is copied, gets a line of its own. */
export function renderFinding(
  { check, level, message, remedy }: Checked,
  { marks, nameWidth, columns }: Layout,
): string {
  const head = `${marks[level]} ${check.padEnd(nameWidth)}  `
  const lines = message.split('\n').map(escapeText)
  const hint = remedy === undefined ? '' : ` → ${escapeText(remedy)}`
  const whole = `${head}${lines.join('; ')}${hint}`
  if (columns === undefined || displayWidth(whole) <= columns) return whole
  const indent = head.length
  const text = lines.map((line) => wrapText(line, columns, indent)).join(`\n${' '.repeat(indent)}`)
  return `${head}${text}${hint === '' ? '' : `\n${' '.repeat(indent - 1)}${hint}`}`
}
