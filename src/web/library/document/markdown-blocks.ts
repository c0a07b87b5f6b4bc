export interface Block {
  readonly kind: 'heading' | 'paragraph' | 'lines' | 'code' | 'table'
  readonly text: string
}

/** Matches fenced code, rows of a table, and headings of one line. */
const PARTS =
  /^ {0,3}(?:```|~~~).*\n[\s\S]*?(?:\n {0,3}(?:```|~~~) *$|(?![\s\S]))|^ {0,3}\|.*(?:\n {0,3}\|.*)*|^#{1,6} .*$/gm

/** Cuts a text into blocks, without the marks of headings and code. Only paragraphs lose their line breaks. */
export function markdownBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let at = 0
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    blocks.push(...proseBlocks(text.slice(at, index)))
    if (part.startsWith('#')) blocks.push({ kind: 'heading', text: part.replace(/^#+ /, '') })
    else blocks.push(/^ *\|/.test(part) ? { kind: 'table', text: part } : codeBlock(part))
    at = index + part.length
  }
  return [...blocks, ...proseBlocks(text.slice(at))]
}

/** Returns the cells of each row of a table, without the line of dashes below its head. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^[\s|:]*-{3}[\s|:-]*$/.test(line))
  return lines.map((line) =>
    line
      .replace(/^\s*\||\|\s*$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  )
}

function codeBlock(part: string): Block {
  return { kind: 'code', text: part.replace(/^.*\n/, '').replace(/\n? {0,3}(?:```|~~~) *$/, '') }
}

function proseBlocks(text: string): Block[] {
  const paragraphs = text.split(/\n\s*\n/).filter((each) => each.trim() !== '')
  return paragraphs.map((paragraph) => {
    const trimmed = paragraph.replace(/^\n+|\s+$/g, '')
    // Line breaks matter in lists, quotations and indented code, and after hard breaks.
    if (/^(\s*([-*+>]|\d+[.)])\s| {4}|\t)/m.test(trimmed) || /( {2}|\\)$/m.test(trimmed))
      return { kind: 'lines', text: trimmed }
    return { kind: 'paragraph', text: trimmed.replace(/\s*\n\s*/g, ' ') }
  })
}
