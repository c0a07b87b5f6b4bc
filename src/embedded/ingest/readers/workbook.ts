import { posix } from 'node:path'
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
import { type NumberKind, numberKindOf, writeNumber } from './number-formats.ts'
import { cellText } from './office.ts'
import { PlaceSplitter } from './passage-splitter.ts'

/**
 * Extracts the cells of an Excel workbook (ECMA-376) as tables in Markdown, sheet by sheet, with dates as Excel shows them, and after
 * them the sheet's notes, text boxes and titles of charts. Reads a sheet in pieces, because a large one takes gigabytes as a tree.
 * Throws when it is broken.
 */
export async function readWorkbook(bytes: Buffer, sink: ExtractionSink): Promise<ExtractionEnd> {
  const entries = listEntries(bytes)
  checkArchive(entries, true)
  const parts = openParts(bytes, entries)
  const workbook = await readWorkbookParts(parts)
  let hasText = false
  const warnings: string[] = []
  for (const { name, part } of workbook.sheets) {
    const splitter = new PlaceSplitter('row', '\n', sink)
    const detail = { sheet: name }
    let last = 0
    const add = (text: string, number: number) => {
      if (last === 0) splitter.add(`## ${name}\n`, number, detail)
      splitter.add(text, number, detail)
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
    splitter.end()
  }
  const end = hasText ? completed(...warnings) : partial(NO_CELLS, warnings)
  return { ...end, textType: 'text/markdown', properties: { sheets: workbook.sheets.length } }
}

const NO_CELLS = 'The workbook has no cells with text: only its title is searchable'

/** The parts of a workbook that its cells refer to. */
interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly part: ZipEntry | undefined }[]
  readonly is1904: boolean
  readonly strings: readonly string[]
  /** The kinds of numbers, by the style of their cell. */
  readonly numberKinds: readonly NumberKind[]
}

/** A reference of one part to another. */
interface Relation {
  readonly id: string
  /** The last segment of its type, which all versions of the format share. */
  readonly type: string
  readonly part: ZipEntry | undefined
}

interface Parts {
  readonly zip: Buffer
  find(name: string): ZipEntry | undefined
  /** The relations of a part, or of the whole package. */
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

/** Throws when it has no list of sheets. */
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

/** Parts of a sheet that hold words outside its cells. */
const REMARKS = /^(?:comments|threadedComment|drawing|vmlDrawing|chart|chartEx|chartUserShapes|diagramData)$/
/** A drawing on a sheet, a chart in it, and a drawing in that. */
const MAX_DEPTH = 3

/** Calls `onText` for each paragraph in the notes, text boxes and charts of a part, and of the parts that these refer to. */
async function readRemarks(parts: Parts, of: ZipEntry, onText: (text: string) => void, depth = 0): Promise<void> {
  for (const { type, part } of await parts.relationsOf(of)) {
    if (!part || !REMARKS.test(type)) continue
    await readParagraphs(parts.zip, part, (text) => onText(cellText(text)))
    if (depth < MAX_DEPTH) await readRemarks(parts, part, onText, depth + 1)
  }
}

/** Joins the runs of each string, and leaves out its pronunciation. */
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

/** The most empty cells shown between two others: a row may have 16,384 columns. */
const MAX_GAP = 20

/** Headers and footers of printed pages, and what their codes begin: `&L`, `&"Arial,Bold"`, `&12`, `&P`. */
const MARGIN = /^(?:odd|even|first)(?:Header|Footer)$/
export const MARGIN_CODE = /&(?:"[^"]*"|K[\dA-F]{6}|\d+|[A-Z])/gi

/** Calls `onRow` for each row that has words, as a row of a table in Markdown, numbers counting from 1; `onMargin` for headers and footers. */
function sheetListener(
  workbook: Workbook,
  onRow: (row: string, number: number) => void,
  onMargin: (text: string) => void,
): XmlListener {
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
