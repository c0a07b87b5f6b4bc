import { MissingProgramError, ProgramFailedError, readByProgram } from '../../read-by-program.ts'
import { passwordNeeded } from './archive.ts'
import { isCompoundFile, openCompoundFile } from './compound-file.ts'
import {
  completed,
  type ExtractionEnd,
  type ExtractionSink,
  type NestedReader,
  partial,
  UNSUPPORTED_FORMAT,
  unreadable,
} from './extraction.ts'
import { cellText } from './office.ts'
import { textsBesideCells } from './old-workbook.ts'
import { readOutlook } from './outlook.ts'
import { PlaceSplitter } from './passage-splitter.ts'
import { takeSlides, textsOfProperties } from './slides.ts'
import { withTemporaryFile } from './temporary-file.ts'

interface Tools {
  readonly temporaryDir: string
  readonly readNested: NestedReader
}

/** A program of Debian's catdoc that prints the text of a kind of document. */
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
const OBJECTS_LEFT = 'Embedded objects, such as charts and controls, were not read'
const NO_TEXT = 'The document has no text: only its title is searchable'

/**
 * Reads documents in the container of older office programs (Compound File Binary): which program stored it, the names of its streams
 * say. Throws when it is broken or encrypted.
 */
export async function readCompound(bytes: Buffer, sink: ExtractionSink, tools: Tools): Promise<ExtractionEnd> {
  if (!isCompoundFile(bytes)) return partial(UNSUPPORTED_FORMAT)
  const streams = openCompoundFile(bytes)
  if (streams.has('__properties_version1.0')) return await readOutlook(bytes, sink, tools)
  if (streams.has('EncryptedPackage')) throw passwordNeeded()
  const readWith = async (program: TextProgram, furtherTexts: () => readonly string[]) => {
    const end = await readPrinted(program, bytes, sink, tools)
    if (end.status !== 'completed') return end
    takeLines(furtherTexts().join('\n'), 'paragraph', sink)
    return completed(...(streams.hasObjects ? [OBJECTS_LEFT] : []))
  }
  if (streams.has('WordDocument'))
    return await readWith(WORD, () => ['0Table', '1Table'].flatMap((name) => textsOfShapes(streams.read(name))))
  if (streams.has('Workbook') || streams.has('Book')) {
    const workbook = streams.read('Workbook')
    return await readWith(EXCEL, () => [...textsBesideCells(workbook), ...textsOfShapes(workbook)])
  }
  if (!streams.has('PowerPoint Document')) return partial(UNSUPPORTED_FORMAT)
  const taken = takeSlides(streams.read('PowerPoint Document'), streams.read('Current User'), sink)
  const warnings = taken.hasObjects ? [OBJECTS_LEFT] : []
  return taken.hasText ? completed(...warnings) : partial(NO_TEXT, warnings)
}

/** The type of the record that has the properties of a shape ([MS-ODRAW] 2.2.9), and its version. */
const SHAPE_PROPERTIES = Buffer.from([0x0b, 0xf0])
const PROPERTIES_VERSION = 3

/** The texts of WordArt and the descriptions of pictures, wherever a stream has the properties of a shape. */
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

async function readPrinted(
  program: TextProgram,
  bytes: Buffer,
  sink: ExtractionSink,
  { temporaryDir }: Tools,
): Promise<ExtractionEnd> {
  try {
    const text = await withTemporaryFile(bytes, temporaryDir, (path) => printText(program, path))
    if (ENCRYPTED.test(text)) throw passwordNeeded()
    for (const sheet of text.split(NEW_SHEET)) takeLines(sheet, program.unit, sink)
    return /\S/.test(text) ? completed() : partial(NO_TEXT)
  } catch (error) {
    if (error instanceof MissingProgramError) return partial(notInstalled(program))
    if (error instanceof ProgramFailedError && ENCRYPTED.test(error.message)) throw passwordNeeded()
    throw error instanceof ProgramFailedError
      ? unreadable(`The document cannot be read by ${program.name}`, error)
      : error
  }
}

/** What the programs say of an encrypted document, one as a text, the other as an error. */
const ENCRYPTED = /^\[?File is encrypted/

function notInstalled({ name }: TextProgram): string {
  return `The program ${name} (of the package catdoc) is not installed: only its title is searchable`
}

const MAX_KIB = 2 ** 20

async function printText({ name, options }: TextProgram, path: string): Promise<string> {
  return (await readByProgram(name, [...options, path], { memoryKiB: MAX_KIB, group: 'caller' })).toString()
}

function takeLines(text: string, unit: 'paragraph' | 'row', sink: ExtractionSink): void {
  const splitter = new PlaceSplitter(unit, unit === 'row' ? '\n' : '\n\n', sink)
  const lines = text.split('\n').map((line) => (unit === 'row' ? rowOf(line) : line.trim()))
  for (const [index, line] of lines.entries()) if (line !== '') splitter.add(line, index + 1)
  splitter.end()
}

function rowOf(line: string): string {
  const cells = line.split('\t').map(cellText)
  return cells.every((cell) => cell === '') ? '' : `| ${cells.join(' | ')} |`
}
