import { Reader } from '@kenjiuno/msgreader/lib/Reader.js'
import { MissingProgramError, ProgramFailedError, readByProgram, withTemporaryFile } from '../../read-by-program.ts'
import { passwordNeeded } from './archive.ts'
import {
  completed,
  DocumentError,
  type ExtractionEnd,
  type ExtractionSink,
  type NestedReader,
  partial,
  UNSUPPORTED_FORMAT,
  unreadable,
} from './extraction.ts'
import { cellText } from './office.ts'
import { readOutlook } from './outlook.ts'
import { PieceJoiner } from './passage-splitter.ts'
import { emitSlides, textsOfProperties } from './slides.ts'
import { MARGIN_CODE } from './workbook.ts'

interface Tools {
  readonly temporaryDir: string
  readonly readNested: NestedReader
}

/** A program of the package catdoc that prints the text of a kind of document. */
interface TextProgram {
  readonly name: string
  readonly options: readonly string[]
  readonly unit: 'paragraph' | 'row'
}

const UTF8 = ['-d', 'utf-8']
const NEW_SHEET = '\f'
const WORD: TextProgram = { name: 'catdoc', options: [...UTF8, '-w'], unit: 'paragraph' }
const EXCEL: TextProgram = {
  name: 'xls2csv',
  options: [...UTF8, '-q', '0', '-c', '\t', '-b', NEW_SHEET, '-f', '%Y-%m-%d'],
  unit: 'row',
}
const OBJECTS_NOT_READ = 'Embedded objects, such as charts and controls, were not read'
const NO_TEXT = 'The document has no text: only its title is searchable'

/** Reads a Compound File Binary; the names of its streams show which program wrote it. Throws if it is broken or encrypted. */
export async function readCompound(bytes: Buffer, sink: ExtractionSink, tools: Tools): Promise<ExtractionEnd> {
  if (!isCompoundFile(bytes)) return partial(UNSUPPORTED_FORMAT)
  const streams = openCompoundFile(bytes)
  if (streams.has('__properties_version1.0')) return await readOutlook(bytes, sink, tools)
  if (streams.has('EncryptedPackage')) throw passwordNeeded()
  const readWith = async (program: TextProgram, furtherTexts: () => readonly string[]) => {
    const end = await readPrinted(program, bytes, sink, tools)
    if (end.status !== 'completed') return end
    emitLines(furtherTexts().join('\n'), 'paragraph', sink)
    return completed(...(streams.hasObjects ? [OBJECTS_NOT_READ] : []))
  }
  if (streams.has('WordDocument'))
    return await readWith(WORD, () => ['0Table', '1Table'].flatMap((name) => textsOfShapes(streams.read(name))))
  if (streams.has('Workbook') || streams.has('Book')) {
    const workbook = streams.read('Workbook')
    return await readWith(EXCEL, () => [...textsBesideCells(workbook), ...textsOfShapes(workbook)])
  }
  if (!streams.has('PowerPoint Document')) return partial(UNSUPPORTED_FORMAT)
  const slides = emitSlides(streams.read('PowerPoint Document'), streams.read('Current User'), sink)
  const warnings = slides.hasObjects ? [OBJECTS_NOT_READ] : []
  return slides.hasText ? completed(...warnings) : partial(NO_TEXT, warnings)
}

/** The type and version of the record that has the properties of a shape ([MS-ODRAW] 2.2.9). */
const SHAPE_PROPERTIES = Buffer.from([0x0b, 0xf0])
const PROPERTIES_VERSION = 3

/** Returns the texts of WordArt and the descriptions of pictures, from all properties of shapes anywhere in a stream. */
function textsOfShapes(stream: Buffer): string[] {
  const texts: string[] = []
  for (let at = stream.indexOf(SHAPE_PROPERTIES, 2); at >= 0; at = stream.indexOf(SHAPE_PROPERTIES, at + 1)) {
    const [head, body] = [stream.readUInt16LE(at - 2), at + 6]
    if ((head & 0xf) !== PROPERTIES_VERSION || body > stream.length) continue
    const properties = stream.subarray(body, body + stream.readUInt32LE(at + 2))
    if (properties.length >= 6 * (head >> 4)) texts.push(...textsOfProperties(properties, head >> 4))
  }
  return texts.map((text) => text.replace(/\s+/g, ' '))
}

/** The types of records of an Excel 97 to 2003 workbook that have text outside the cells ([MS-XLS] 2.3.2). */
const TYPE = { header: 0x14, footer: 0x15, continuation: 0x3c, sheet: 0x85, object: 0x1b6, chart: 0x100d } as const
const HEAD_BYTES = 4
/** The offset of the number of characters in the record of a text box or a note; the characters follow in other records. */
const OBJECT_LENGTH = 10

/** Returns the texts outside the cells: names of sheets, headers, footers, titles of charts, text boxes and notes. */
export function textsBesideCells(workbook: Buffer): string[] {
  const texts: string[] = []
  let box = { text: '', remaining: 0 }
  for (let at = 0; at + HEAD_BYTES <= workbook.length; ) {
    const [type, length] = [workbook.readUInt16LE(at), workbook.readUInt16LE(at + 2)]
    const body = workbook.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)
    at += HEAD_BYTES + length
    if (type === TYPE.sheet) texts.push(charactersAt(body, 7, body[6] ?? 0))
    else if (type === TYPE.chart) texts.push(charactersAt(body, 3, body[2] ?? 0))
    else if ((type === TYPE.header || type === TYPE.footer) && length > 2)
      texts.push(charactersAt(body, 2, body.readUInt16LE(0)).replace(MARGIN_CODE, ' '))
    else if (type === TYPE.object && length >= OBJECT_LENGTH + 2)
      box = { text: '', remaining: body.readUInt16LE(OBJECT_LENGTH) }
    else if (type === TYPE.continuation && box.remaining > 0) {
      const text = charactersAt(body, 0, box.remaining)
      box = { text: box.text + text, remaining: box.remaining - text.length }
      if (box.remaining === 0 || text === '') texts.push(box.text)
    }
  }
  return texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '')
}

/** Returns `count` characters. They follow the byte at `at`, which says whether each of them has one byte or two. */
function charactersAt(body: Buffer, at: number, count: number): string {
  const isWide = ((body[at] ?? 0) & 1) === 1
  return body.toString(isWide ? 'utf16le' : 'latin1', at + 1, at + 1 + (isWide ? 2 * count : count))
}

async function readPrinted(
  program: TextProgram,
  bytes: Buffer,
  sink: ExtractionSink,
  { temporaryDir }: Tools,
): Promise<ExtractionEnd> {
  try {
    const text = await withTemporaryFile(bytes, temporaryDir, (path) => printText(program, path))
    if (ENCRYPTED.test(text)) throw passwordNeeded()
    for (const sheet of text.split(NEW_SHEET)) emitLines(sheet, program.unit, sink)
    return /\S/.test(text) ? completed() : partial(NO_TEXT)
  } catch (error) {
    if (error instanceof MissingProgramError) return partial(notInstalled(program))
    if (error instanceof ProgramFailedError && ENCRYPTED.test(error.message)) throw passwordNeeded()
    throw error instanceof ProgramFailedError
      ? unreadable(`The document cannot be read by ${program.name}`, error)
      : error
  }
}

/** The message of the programs for an encrypted document; one prints it as the text, the other as an error. */
const ENCRYPTED = /^\[?File is encrypted/

function notInstalled({ name }: TextProgram): string {
  return `The program ${name} (of the package catdoc) is not installed: only its title is searchable`
}

const MAX_KIB = 2 ** 20

async function printText({ name, options }: TextProgram, path: string): Promise<string> {
  return (await readByProgram(name, [...options, path], { memoryKiB: MAX_KIB, group: 'caller' })).toString()
}

function emitLines(text: string, unit: 'paragraph' | 'row', sink: ExtractionSink): void {
  const joiner = new PieceJoiner(unit, unit === 'row' ? '\n' : '\n\n', sink)
  const lines = text.split('\n').map((line) => (unit === 'row' ? rowOf(line) : line.trim()))
  for (const [index, line] of lines.entries()) if (line !== '') joiner.add(line, index + 1)
  joiner.end()
}

function rowOf(line: string): string {
  const cells = line.split('\t').map(cellText)
  return cells.every((cell) => cell === '') ? '' : `| ${cells.join(' | ')} |`
}

const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex')
/** Offsets in the header. The table of sectors begins in the header; in files of more than 7 MB, `furtherTable` says where it continues. */
const HEADER = { sectorShift: 30, directory: 48, miniTable: 60, table: 76, tableEnd: 512, furtherTable: 68 } as const
const ENTRY_BYTES = 128
const ENTRY = { type: 66, links: [68, 72, 76], start: 116, length: 120 } as const
const STREAM = 2
const ROOT = 5
/** Streams with fewer bytes are stored in small sectors, which have a table of their own. */
const SMALL_STREAM = 4_096
/** Numbers from this one on mean that there is no sector or no entry. */
const NONE = 0xfffffffa

function isCompoundFile(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)
}

/** Opens a Compound File Binary ([MS-CFB]). Throws if it is broken. */
function openCompoundFile(bytes: Buffer) {
  try {
    assertIntact(bytes)
    const reader = new Reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.length))
    reader.parse()
    const root = reader.rootFolder()
    const names = new Set(root.fileNames())
    return {
      has: (name: string) => names.has(name),
      read: (name: string) => Buffer.from(root.readFile(name) ?? []),
      /** True if the document embeds controls, or objects of other programs, such as charts. */
      hasObjects:
        names.has('Ctls') ||
        root
          .subFolders()
          .some((each) => /^MBD/.test(each.name) || (each.name === 'ObjectPool' && each.subFolders().length > 0)),
    }
  } catch (error) {
    throw unreadable('The document is broken', error)
  }
}

/** Throws if a chain of sectors is a circle, which the reader would follow for ever, or if it leaves the file. */
function assertIntact(bytes: Buffer): void {
  const sectorBytes = 2 ** bytes.readUInt16LE(HEADER.sectorShift)
  const count = Math.ceil(bytes.length / sectorBytes) - 1
  const sectorAt = (sector: number) => bytes.subarray((sector + 1) * sectorBytes, (sector + 2) * sectorBytes)
  const next = numbersOf(Buffer.concat(tableOf(bytes, sectorAt, count).map(sectorAt)))
  const seen = new Set<number>()
  const directory = follow(bytes.readUInt32LE(HEADER.directory), next, seen, count)
  const miniTable = follow(bytes.readUInt32LE(HEADER.miniTable), next, seen, count)
  const small = numbersOf(Buffer.concat(miniTable.map(sectorAt)))
  const seenSmall = new Set<number>()
  const linked = new Set<number>()
  const entries = Buffer.concat(directory.map(sectorAt))
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    const type = entries[at + ENTRY.type]
    const [start, length] = [entries.readUInt32LE(at + ENTRY.start), entries.readUInt32LE(at + ENTRY.length)]
    if (type === ROOT || (type === STREAM && length >= SMALL_STREAM)) follow(start, next, seen, count)
    else if (type === STREAM && length > 0) follow(start, small, seenSmall, small.length)
    if (type === STREAM && length > bytes.length) throw new DocumentError('it is cut off')
    if (type === 0) continue
    for (const link of ENTRY.links.map((offset) => entries.readUInt32LE(at + offset)).filter((each) => each < NONE)) {
      if (link * ENTRY_BYTES >= entries.length || linked.has(link)) throw new DocumentError('its directory is broken')
      linked.add(link)
    }
  }
}

/** Returns the sectors that hold the table of sectors, which names the successor of each sector. */
function tableOf(bytes: Buffer, sectorAt: (sector: number) => Buffer, count: number): number[] {
  const sectors = [...numbersOf(bytes.subarray(HEADER.table, HEADER.tableEnd))]
  const seen = new Set<number>()
  for (let further = bytes.readUInt32LE(HEADER.furtherTable); further < NONE; ) {
    if (further >= count || seen.has(further)) throw new DocumentError('its table of sectors is broken')
    seen.add(further)
    const numbers = numbersOf(sectorAt(further))
    sectors.push(...numbers.subarray(0, -1))
    further = numbers.at(-1) ?? NONE
  }
  const used = sectors.filter((sector) => sector < NONE)
  if (used.some((sector) => sector >= count)) throw new DocumentError('it is cut off')
  return used
}

/** Returns the chain of sectors that begins at `first`. Throws if it leads to a sector that does not exist or is in `seen`. */
function follow(first: number, next: Uint32Array, seen: Set<number>, count: number): number[] {
  const sectors: number[] = []
  for (let sector = first; sector < NONE; sector = next[sector] ?? NONE) {
    if (sector >= count) throw new DocumentError('it is cut off')
    if (seen.has(sector)) throw new DocumentError('its sectors form a circle')
    seen.add(sector)
    sectors.push(sector)
  }
  return sectors
}

function numbersOf(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(4 * index))
}
