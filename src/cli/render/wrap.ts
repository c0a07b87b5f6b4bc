/** Words that are not broken where less room than this is left for them. */
const NARROWEST = 20

/** Paragraphs in lines of at most `width`, and after the first line `indent` blanks before each. */
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
