import { detectLanguages, type Languages } from './detect-language.ts'
import { furtherForms } from './further-forms.ts'
import { findHeadings } from './headings.ts'
import { splitWords, type Word } from './split-words.ts'

/** What the search index stores of one passage: words parted by blanks, for each column. */
export interface IndexWords {
  readonly name: string
  readonly heading: string
  readonly body: string
  /** Forms of the words of the body, each once. */
  readonly forms: string
}

/** `name` is the resource's title, or empty for a passage that is not found by it. */
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
