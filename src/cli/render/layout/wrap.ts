/** The least room for text, so that a large indent or a narrow terminal does not leave one word per line. */
const NARROWEST = 20

/** Wraps paragraphs to lines of at most `width`; all but the first line of a paragraph get `indent` blanks. */
export function wrapText(text: string, width: number, indent = 0): string {
  const room = Math.max(NARROWEST, width - indent)
  const paragraphs = text.split('\n\n').map((paragraph) => fillLines(paragraph, room))
  return paragraphs.map((lines) => lines.join(`\n${' '.repeat(indent)}`)).join('\n\n')
}

function fillLines(paragraph: string, room: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of paragraph.split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > room && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
