import { posix } from 'node:path'
import { checkArchive, listEntries, readXmlPart, type XmlListener, type ZipEntry } from './archive.ts'
import { completed, type ExtractionEnd, type ExtractionSink, partial } from './extraction.ts'
import { type NumberKind, numberKindOf, writeNumber } from './number-formats.ts'
import { cellText } from './office.ts'
import { PlaceSplitter } from './passage-splitter.ts'

/**
 * Extracts the cells of an Excel workbook (ECMA-376) as tables in Markdown, sheet by sheet, each row as a reader sees it: dates as
 * dates. Reads the sheets piece by piece, because as a tree a large one takes gigabytes. Throws when it is broken.
 */
export async function readWorkbook(bytes: Buffer, sink: ExtractionSink): Promise<ExtractionEnd> {
  const entries = listEntries(bytes)
  checkArchive(entries, true)
  const workbook = await readWorkbookParts(bytes, entries)
  let hasText = false
  for (const { name, part } of workbook.sheets) {
    const splitter = new PlaceSplitter('row', '\n', sink)
    const detail = { sheet: name }
    let isFirst = true
    const onRow = (row: string, number: number) => {
      if (isFirst) splitter.add(`## ${name}\n`, number, detail)
      splitter.add(row, number, detail)
      isFirst = false
      hasText = true
    }
    await readXmlPart(bytes, part, sheetListener(workbook, onRow), () => sink.drain())
    splitter.end()
  }
  const end = hasText ? completed() : partial('The workbook has no cells with text: only its title is searchable')
  return { ...end, textType: 'text/markdown', properties: { sheets: workbook.sheets.length } }
}

/** The parts of a workbook that its cells refer to. */
interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly part: ZipEntry }[]
  readonly is1904: boolean
  readonly strings: readonly string[]
  /** The kinds of numbers, by the style of their cell. */
  readonly numberKinds: readonly NumberKind[]
}

type Find = (name: string) => ZipEntry | undefined

const WORKBOOK = 'xl/workbook.xml'

/** Throws when it has no list of sheets. */
async function readWorkbookParts(zip: Buffer, entries: readonly ZipEntry[]): Promise<Workbook> {
  const byName = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]))
  const find: Find = (name) => byName.get(name.toLowerCase())
  const list = find(WORKBOOK)
  if (!list) throw new Error('The workbook is damaged: its list of sheets is missing')
  const targets = await readTargets(zip, find('xl/_rels/workbook.xml.rels'))
  const sheets: { name: string; part: ZipEntry }[] = []
  let is1904 = false
  await readXmlPart(zip, list, {
    onOpen: (name, attributes) => {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '')
      if (name !== 'sheet') return
      const target = targets.get(attributes['r:id'] ?? '')
      const part = target === undefined ? undefined : find(posix.join('xl', target).replace(/^xl\/xl\//, 'xl/'))
      if (part) sheets.push({ name: attributes.name ?? '', part })
    },
  })
  const strings = await readStrings(zip, find('xl/sharedStrings.xml'))
  return { sheets, is1904, strings, numberKinds: await readNumberKinds(zip, find('xl/styles.xml')) }
}

async function readTargets(zip: Buffer, part: ZipEntry | undefined): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, string>()
  const onOpen = (name: string, { Id: id, Target: target }: Readonly<Record<string, string>>) => {
    if (name === 'Relationship' && id !== undefined && target !== undefined) targets.set(id, target)
  }
  if (part) await readXmlPart(zip, part, { onOpen })
  return targets
}

/** Each string is the text of its runs, without how it is pronounced. */
async function readStrings(zip: Buffer, part: ZipEntry | undefined): Promise<string[]> {
  const strings: string[] = []
  let text = ''
  let isText = false
  let isPhonetic = false
  const listener = {
    onOpen: (name: string) => {
      if (name === 'si') text = ''
      if (name === 'rPh') isPhonetic = true
      isText = name === 't' && !isPhonetic
    },
    onText: (piece: string) => {
      if (isText) text += piece
    },
    onClose: (name: string) => {
      isText = false
      if (name === 'rPh') isPhonetic = false
      if (name === 'si') strings.push(text)
    },
  }
  if (part) await readXmlPart(zip, part, listener)
  return strings
}

async function readNumberKinds(zip: Buffer, part: ZipEntry | undefined): Promise<NumberKind[]> {
  const codes = new Map<number, string>()
  const numberKinds: NumberKind[] = []
  let isOfCells = false
  const onOpen = (name: string, { numFmtId: id, formatCode: code }: Readonly<Record<string, string>>) => {
    if (name === 'cellXfs') isOfCells = true
    if (name === 'numFmt' && code !== undefined) codes.set(Number(id), code)
    if (name === 'xf' && isOfCells) numberKinds.push(numberKindOf(Number(id), codes.get(Number(id))))
  }
  const onClose = (name: string) => {
    if (name === 'cellXfs') isOfCells = false
  }
  if (part) await readXmlPart(zip, part, { onOpen, onClose })
  return numberKinds
}

/** A cell may be in any of 16,384 columns; this many empty ones are shown between two others. */
const MAX_GAP = 20

/** Calls `onRow` for each row that has words, as a row of a table in Markdown; numbers count from 1. */
function sheetListener(workbook: Workbook, onRow: (row: string, number: number) => void): XmlListener {
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

/** Returns 1 for `B7`. */
function columnOf(reference: string | undefined, byDefault: number): number {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return byDefault
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function shown(value: string, type: string, style: number, { strings, numberKinds, is1904 }: Workbook): string {
  if (type === 's') return cellText(strings[Number(value)] ?? '')
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type === 'n' && value.trim() !== '' && Number.isFinite(Number(value))) {
    return writeNumber(Number(value), numberKinds[style] ?? 'number', is1904)
  }
  return cellText(value)
}
