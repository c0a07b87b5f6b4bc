import { MissingProgramError, ProgramFailedError, readByProgram } from '../../run-program.ts'
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
import { takeSlides } from './slides.ts'
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
  if (streams.has('WordDocument')) return await readPrinted(WORD, bytes, sink, tools)
  if (streams.has('Workbook') || streams.has('Book')) {
    const end = await readPrinted(EXCEL, bytes, sink, tools)
    if (end.status === 'completed') takeLines(textsBesideCells(streams.read('Workbook')).join('\n'), 'paragraph', sink)
    return end
  }
  if (!streams.has('PowerPoint Document')) return partial(UNSUPPORTED_FORMAT)
  const hasText = takeSlides(streams.read('PowerPoint Document'), streams.read('Current User'), sink)
  return hasText ? completed() : partial(NO_TEXT)
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
