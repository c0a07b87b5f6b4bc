import { cellText } from '../office/markdown.ts'
import type { XmlListener } from '../office/xml-part.ts'
import { writeNumber } from './number-formats.ts'
import type { Workbook } from './workbook-parts.ts'

/** A cell may stand in any of 16,384 columns; this many empty ones are shown between two others. */
const MAX_GAP = 20

/** Calls `onRow` for each row that has words, as a row of a table in Markdown; numbers count from 1. */
export function sheetListener(workbook: Workbook, onRow: (row: string, number: number) => void): XmlListener {
  let number = 0
  let cells: string[] = []
  let cell = { type: '', style: 0, column: 0 }
  let value = ''
  let isValue = false
  return {
    onOpen: (name, attributes) => {
      if (name === 'row') {
        number = Number(attributes.r ?? number + 1)
        cells = []
      } else if (name === 'c') {
        cell = {
          type: attributes.t ?? 'n',
          style: Number(attributes.s ?? 0),
          column: columnOf(attributes.r, cells.length),
        }
        value = ''
      }
      isValue = name === 'v' || name === 't'
    },
    onText: (text) => {
      if (isValue) value += text
    },
    onClose: (name) => {
      isValue = false
      if (name === 'c' && value !== '') {
        const gap = Math.min(MAX_GAP, Math.max(0, cell.column - cells.length))
        cells.push(...Array.from({ length: gap }, () => ''), shown(value, cell.type, cell.style, workbook))
      } else if (name === 'row' && cells.some((text) => text !== '')) onRow(`| ${cells.join(' | ')} |`, number)
    },
  }
}

/** `B7` stands in column 1. */
function columnOf(reference: string | undefined, byDefault: number): number {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return byDefault
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function shown(value: string, type: string, style: number, { strings, meanings, is1904 }: Workbook): string {
  if (type === 's') return cellText(strings[Number(value)] ?? '')
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type === 'n' && value.trim() !== '' && Number.isFinite(Number(value))) {
    return writeNumber(Number(value), meanings[style] ?? 'number', is1904)
  }
  return cellText(value)
}
