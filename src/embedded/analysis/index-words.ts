import { detectLanguages, type Languages } from './detect-language.ts'
import { furtherForms } from './further-forms.ts'
import { splitWords, type Word } from './split-words.ts'

/** The entry of one passage in the search index. Each column has words separated by blanks. */
export interface IndexWords {
  readonly name: string
  readonly heading: string
  readonly body: string
  /** The further forms of the words of the body, each once. */
  readonly forms: string
}

/** Returns the index entry of a passage. `name` is the title of the resource, or empty if the passage is not to be found by it. */
export function indexWords(name: string, text: string, isBeginning: boolean): IndexWords {
  const words = splitWords(text)
  const languages = detectLanguages([...words, ...splitWords(name)])
  return {
    name: wordsAndForms(name, languages),
    heading: wordsAndForms(findHeadings(text, isBeginning), languages),
    body: joinFolded(words),
    forms: [...furtherForms(text, words, languages)].join(' '),
  }
}

function wordsAndForms(text: string, languages: Languages): string {
  if (text === '') return ''
  const words = splitWords(text)
  return [joinFolded(words), ...furtherForms(text, words, languages)].join(' ')
}

function joinFolded(words: readonly Word[]): string {
  return words.map(({ folded }) => folded).join(' ')
}

const MARKED = /^\s{0,3}#{1,6}\s+(\S.*)$/
const UNDERLINE = /^\s*(?:={3,}|-{3,}|~{3,})\s*$/
const MAX_LENGTH = 80
const MAX_HEADINGS = 40

/**
 * Returns the headings of a text, one on each line: headings as in Markdown, lines that are underlined, lines of capitals as in manual
 * pages, and the first line of a document. Long lines are never headings.
 */
export function findHeadings(text: string, isBeginning: boolean): string {
  const lines = text.split('\n')
  const found: string[] = []
  const first = isBeginning ? lines.findIndex((line) => line.trim() !== '') : -1
  for (const [index, line] of lines.entries()) {
    if (line.length > MAX_LENGTH || found.length === MAX_HEADINGS) continue
    const marked = MARKED.exec(line)?.[1]
    const isHeading = index === first || UNDERLINE.test(lines[index + 1] ?? '') || isInCapitals(line)
    if (marked ?? (isHeading && line.trim() !== '')) found.push(marked ?? line)
  }
  return found.join('\n')
}

function isInCapitals(line: string): boolean {
  return line.length > 3 && /^\p{Lu}{2}[\p{Lu}\d ,:/()-]+$/u.test(line)
}
