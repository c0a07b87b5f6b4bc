import { posix } from 'node:path'
import { DAY_MS } from '../../../foundation/text/times.ts'
import {
  checkArchive,
  listEntries,
  localName,
  readParagraphs,
  readXmlPart,
  type XmlListener,
  type ZipEntry,
} from './archive.ts'
import { completed, type ExtractionEnd, type ExtractionSink, partial } from './extraction.ts'
import { cellText } from './office.ts'
import { PieceJoiner } from './passage-splitter.ts'

/**
 * Extracts the sheets of an Excel workbook (ECMA-376): their cells as tables in Markdown, then their notes, text boxes and texts of
 * charts. Reads a sheet in pieces, because a large one takes gigabytes as a tree. Throws if the workbook is broken.
 */
export async function readWorkbook(bytes: Buffer, sink: ExtractionSink): Promise<ExtractionEnd> {
  const entries = listEntries(bytes)
  checkArchive(entries, true)
  const parts = openParts(bytes, entries)
  const workbook = await readWorkbookParts(parts)
  let hasText = false
  const warnings: string[] = []
  for (const { name, part } of workbook.sheets) {
    const joiner = new PieceJoiner('row', '\n', sink)
    const detail = { sheet: name }
    let last = 0
    const add = (text: string, number: number) => {
      if (last === 0) joiner.add(`## ${name}\n`, number, detail)
      joiner.add(text, number, detail)
      last = number
      hasText = true
    }
    if (!part) {
      warnings.push(`The sheet "${name}" was not read: its part is missing`)
      continue
    }
    const remarks: string[] = []
    const listener = sheetListener(workbook, add, (text) => remarks.push(text))
    await readXmlPart(bytes, part, listener, () => sink.drain())
    await readRemarks(parts, part, (text) => remarks.push(text))
    const end = last || 1
    for (const remark of new Set(remarks)) add(`> ${remark}`, end)
    joiner.end()
  }
  const end = hasText ? completed(...warnings) : partial(NO_CELLS, warnings)
  return { ...end, textType: 'text/markdown', properties: { sheets: workbook.sheets.length } }
}

const NO_CELLS = 'The workbook has no cells with text: only its title is searchable'

/** What is needed of a workbook to read its sheets. */
interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly part: ZipEntry | undefined }[]
  /** True if days count from 1904 instead of 1900. */
  readonly is1904: boolean
  /** The texts that cells refer to by their index. */
  readonly strings: readonly string[]
  /** The kind of number in the cells of each style. */
  readonly numberKinds: readonly NumberKind[]
}

/** A reference of one part to another. */
interface Relation {
  readonly id: string
  /** The last segment of the type, which all versions of the format have in common. */
  readonly type: string
  readonly part: ZipEntry | undefined
}

interface Parts {
  readonly zip: Buffer
  find(name: string): ZipEntry | undefined
  /** Returns the relations of a part; without one, those of the whole package. */
  relationsOf(part?: ZipEntry): Promise<readonly Relation[]>
}

function openParts(zip: Buffer, entries: readonly ZipEntry[]): Parts {
  const byName = new Map(entries.map((entry) => [entry.name.toLowerCase().replace(/^\//, ''), entry]))
  const find = (name: string) => byName.get(name.toLowerCase())
  const relationsOf = async (part?: ZipEntry) => {
    const { dir, base } = posix.parse(part?.name ?? '')
    const relations: Relation[] = []
    const list = find(posix.join(dir, '_rels', `${base}.rels`))
    const onOpen = (name: string, { Id: id = '', Type: type = '', Target: target = '' }: Attributes) => {
      if (name !== 'Relationship') return
      const path = target.replaceAll('\\', '/')
      const found = path.startsWith('/') ? find(path.slice(1)) : (find(posix.join(dir, path)) ?? find(path))
      relations.push({ id, type: posix.basename(type), part: found })
    }
    if (list) await readXmlPart(zip, list, { onOpen })
    return relations
  }
  return { zip, find, relationsOf }
}

type Attributes = Readonly<Record<string, string>>

/** Throws if the list of sheets is missing. */
async function readWorkbookParts({ zip, find, relationsOf }: Parts): Promise<Workbook> {
  const ofType = (relations: readonly Relation[], type: string) => relations.find((each) => each.type === type)?.part
  const list = ofType(await relationsOf(), 'officeDocument') ?? find('xl/workbook.xml')
  if (!list) throw new Error('The workbook is damaged: its list of sheets is missing')
  const relations = await relationsOf(list)
  const sheets: { name: string; part: ZipEntry | undefined }[] = []
  let is1904 = false
  await readXmlPart(zip, list, {
    onOpen: (name, attributes) => {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '')
      if (name !== 'sheet') return
      const [, id] = Object.entries(attributes).find(([key]) => key.includes(':') && localName(key) === 'id') ?? []
      sheets.push({ name: attributes.name ?? '', part: relations.find((relation) => relation.id === id)?.part })
    },
  })
  const strings = await readStrings(zip, ofType(relations, 'sharedStrings') ?? find('xl/sharedStrings.xml'))
  const styles = ofType(relations, 'styles') ?? find('xl/styles.xml')
  return { sheets, is1904, strings, numberKinds: await readNumberKinds(zip, styles) }
}

/** The types of relations to parts with text outside the cells. */
const REMARKS = /^(?:comments|threadedComment|drawing|vmlDrawing|chart|chartEx|chartUserShapes|diagramData)$/
/** A sheet may have a drawing, which may have a chart, which may have a drawing. */
const MAX_DEPTH = 3

/** Calls `onText` for each paragraph in the notes, text boxes and charts that a part refers to, and in the parts that they refer to. */
async function readRemarks(parts: Parts, of: ZipEntry, onText: (text: string) => void, depth = 0): Promise<void> {
  for (const { type, part } of await parts.relationsOf(of)) {
    if (!part || !REMARKS.test(type)) continue
    await readParagraphs(parts.zip, part, (text) => onText(cellText(text)))
    if (depth < MAX_DEPTH) await readRemarks(parts, part, onText, depth + 1)
  }
}

/** Returns the shared strings. Joins the runs of each string, without its pronunciation. */
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

/** How many empty cells are written between two others at most, since a row may have 16,384 columns. */
const MAX_GAP = 20

/** Elements with a header or footer of printed pages. */
const MARGIN = /^(?:odd|even|first)(?:Header|Footer)$/
/** The codes in headers and footers, such as `&L`, `&"Arial,Bold"`, `&12` and `&P`. */
export const MARGIN_CODE = /&(?:"[^"]*"|K[\dA-F]{6}|\d+|[A-Z])/gi

/** Calls `onRow` for each row with text, written as a row in Markdown, with its number from 1; `onMargin` for each header and footer. */
function sheetListener(
  workbook: Workbook,
  onRow: (row: string, number: number) => void,
  onMargin: (text: string) => void,
): XmlListener {
  let number = 0
  let cells: string[] = []
  let column = -1
  let lastWritten = -1
  let cell = { type: '', style: 0 }
  let value = ''
  let isValue = false
  return {
    onOpen: (name, attributes) => {
      if (name === 'row') {
        number = Number(attributes.r ?? number + 1)
        cells = []
        column = -1
        lastWritten = -1
      } else if (name === 'c') {
        column = columnOf(attributes.r, column + 1)
        cell = { type: attributes.t ?? 'n', style: Number(attributes.s ?? 0) }
        value = ''
      }
      if (MARGIN.test(name)) value = ''
      isValue = name === 'v' || name === 't' || MARGIN.test(name)
    },
    onText: (text) => {
      if (isValue) value += text
    },
    onClose: (name) => {
      isValue = false
      const margin = MARGIN.test(name) ? cellText(value.replace(MARGIN_CODE, ' ')) : ''
      if (margin !== '') onMargin(margin)
      if (name === 'c' && value !== '') {
        const gap = Math.min(MAX_GAP, Math.max(0, column - lastWritten - 1))
        lastWritten = column
        cells.push(...Array.from({ length: gap }, () => ''), cellTextOf(value, cell.type, cell.style, workbook))
      } else if (name === 'row' && cells.some((text) => text !== '')) onRow(`| ${cells.join(' | ')} |`, number)
    },
  }
}

/** Returns the index of the column of a reference: 1 for `B7`; `byDefault` for a cell without a reference. */
function columnOf(reference: string | undefined, byDefault: number): number {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return byDefault
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function cellTextOf(value: string, type: string, style: number, { strings, numberKinds, is1904 }: Workbook): string {
  if (type === 's') return cellText(strings[Number(value)] ?? '')
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type === 'n' && value.trim() !== '' && Number.isFinite(Number(value))) {
    return writeNumber(Number(value), numberKinds[style] ?? 'number', is1904)
  }
  return cellText(value)
}

/** What a number in a cell means, by its number format (ECMA-376, 18.8.30). */
type NumberKind = 'number' | 'percent' | 'date' | 'time' | 'duration'

/** The kinds of the number formats that all workbooks have, by their id. */
const BUILT_IN: Readonly<Record<number, NumberKind>> = {
  ...kinds('percent', [9, 10]),
  ...kinds('date', [14, 15, 16, 17, 22]),
  ...kinds('time', [18, 19, 20, 21, 45, 47]),
  ...kinds('duration', [46]),
  // Formats of East Asian calendars.
  ...kinds('date', [27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]),
  ...kinds('time', [32, 33, 34, 35, 55, 56]),
}

function kinds(kind: NumberKind, ids: readonly number[]): Readonly<Record<number, NumberKind>> {
  return Object.fromEntries(ids.map((id) => [id, kind]))
}

/** `code` is the text of a format that is not built in. */
function numberKindOf(id: number, code: string | undefined): NumberKind {
  return code === undefined ? (BUILT_IN[id] ?? 'number') : kindOfCode(code)
}

function kindOfCode(code: string): NumberKind {
  // Quoted or escaped text says nothing about the kind.
  const [bare = ''] = code.replace(/"[^"]*"|\\.|_.|\*./g, '').split(';')
  if (/\[(?:h+|m+|s+)\]/i.test(bare)) return 'duration'
  const marks = bare.replace(/\[[^[\]]*\]/g, '').replace(/general/i, '')
  if (/[yd]/i.test(marks) || /mmm/i.test(marks)) return 'date'
  if (/[hs]/i.test(marks)) return 'time'
  if (/m/i.test(marks)) return 'date'
  return marks.includes('%') ? 'percent' : 'number'
}

const EPOCH_1900_MS = Date.UTC(1899, 11, 30)
const EPOCH_1904_MS = Date.UTC(1904, 0, 1)
/** The calendar from 1900 has a 29 February that did not exist; earlier days are numbered one too low. */
const FIRST_RIGHT_DAY = 60

/** Returns the text for a number: `2024-02-29`, `2024-02-29 18:30`, `09:15`, `30:00:00`, `25%` or `1234.5`. */
function writeNumber(value: number, kind: NumberKind, is1904: boolean): string {
  if (kind === 'percent') return `${Number((value * 100).toPrecision(12))}%`
  if (kind === 'number' || !Number.isFinite(value)) return String(value)
  const seconds = Math.round(value * 86_400)
  if (kind === 'duration') {
    const length = Math.abs(seconds)
    return `${seconds < 0 ? '-' : ''}${Math.floor(length / 3_600)}:${clock(length % 3_600).slice(3)}`
  }
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
