export interface Block {
  readonly kind: 'heading' | 'paragraph' | 'lines' | 'code'
  readonly text: string
}

/** Fences of code, with what is between them; then headings, each a line. */
const PARTS = /^ {0,3}(?:```|~~~).*\n[\s\S]*?(?:\n {0,3}(?:```|~~~) *$|(?![\s\S]))|^#{1,6} .*$/gm

/** Cuts a text at headings, code and empty lines. Everything stays as it is written, but for breaks within paragraphs. */
export function markdownBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let at = 0
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    blocks.push(...proseBlocks(text.slice(at, index)))
    blocks.push(part.startsWith('#') ? { kind: 'heading', text: part.replace(/^#+ /, '') } : codeBlock(part))
    at = index + part.length
  }
  return [...blocks, ...proseBlocks(text.slice(at))]
}

function codeBlock(part: string): Block {
  return { kind: 'code', text: part.replace(/^.*\n/, '').replace(/\n? {0,3}(?:```|~~~) *$/, '') }
}

function proseBlocks(text: string): Block[] {
  const paragraphs = text.split(/\n\s*\n/).filter((each) => each.trim() !== '')
  return paragraphs.map((paragraph) => {
    const trimmed = paragraph.replace(/^\n+|\s+$/g, '')
    if (/^\s*\|/.test(trimmed)) return { kind: 'code', text: trimmed }
    // Lists, quotations, indented code and hard breaks mean their lines.
    if (/^(\s*([-*+>]|\d+[.)])\s| {4}|\t)/m.test(trimmed) || /( {2}|\\)$/m.test(trimmed))
      return { kind: 'lines', text: trimmed }
    return { kind: 'paragraph', text: trimmed.replace(/\s*\n\s*/g, ' ') }
  })
}
