import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { extensionOf } from './collect.ts'

const MAX_OUTPUT_BYTES = 256 * 2 ** 20
/** The parts of an archive that hold its text. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  docx: ['word/document.xml'],
  pptx: ['ppt/slides/slide*.xml'],
  xlsx: ['xl/sharedStrings.xml'],
  epub: ['*.xhtml', '*.html'],
  ...Object.fromEntries(['odt', 'ott', 'ods', 'ots', 'odp', 'otp'].map((extension) => [extension, ['content.xml']])),
}
/** Elements within a word; between all others there is a blank. */
const INLINE =
  /<\/?(?:a|b|i|em|strong|code|tt|span|kbd|var|font|u|small|text:span|text:a|w:r|w:t|w:rPr|a:r|a:t|r|t)\b[^>]*>/g
const UNSEEN =
  /<(script|style|head|title|dc:creator|meta:creator-initials|text:tracked-changes)\b[\s\S]*?<\/\1>|<!--[\s\S]*?-->|<w:(?:instrText|delText)\b[\s\S]*?<\/w:(?:instrText|delText)>/g

/** The text of a document by other programs than ours, as far as they are simple; undefined where nothing simple reads it. */
export function readIndependently(file: string, kind: string): string | undefined {
  const extension = extensionOf(file)
  const parts = PARTS[extension]
  if (extension === 'pdf') return run('pdftotext', file, '-')
  if (parts) return withoutMarks(run('unzip', '-p', file, ...parts))
  if (extension === 'html') return withoutMarks(readFileSync(file, 'utf8'))
  if (extension === 'man') return unformatted(readFileSync(file, 'utf8'))
  if (kind === 'text in other encodings') return decoded(file)
  return ['txt', 'md', 'rst', 'csv', 'tsv', 'py', 'sql', 'r', 'json', 'yaml', 'yml'].includes(extension)
    ? strictUtf8(file)
    : undefined
}

function run(program: string, ...args: readonly string[]): string {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      maxBuffer: MAX_OUTPUT_BYTES,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch (error) {
    // unzip complains of a part that is not there: a workbook of numbers has no shared strings.
    return error instanceof Error && 'stdout' in error && 'status' in error && error.status !== null
      ? String(error.stdout)
      : fail(error)
  }
}

function fail(error: unknown): never {
  throw error
}

function withoutMarks(markup: string): string {
  return markup
    .replace(UNSEEN, ' ')
    .replace(INLINE, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\S*&\S*/g, ' ')
}

/** The lines of a manual page that have no instructions. */
function unformatted(page: string): string {
  return page
    .split('\n')
    .filter((line) => !/^['.]|\\/.test(line))
    .join('\n')
}

/** The name of such a file is its encoding. */
function decoded(file: string): string | undefined {
  const label = basename(file, '.txt').split(' ').at(-1) ?? ''
  if (label.endsWith('-utf8')) return strictUtf8(file)
  try {
    return new TextDecoder(label.replaceAll('_', '-'), { fatal: true }).decode(readFileSync(file))
  } catch {
    return undefined
  }
}

function strictUtf8(file: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch {
    return undefined
  }
}
