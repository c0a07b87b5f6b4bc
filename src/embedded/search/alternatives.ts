import { languagesOf, scriptOf } from '../analysis/detect-language.ts'
import type { Language } from '../analysis/function-words.ts'
import { spelledTogether, withoutThousands, withoutUmlauts } from '../analysis/further-forms.ts'
import { foldWord, partsOfName, splitWords, type Word } from '../analysis/split-words.ts'
import { stemWord, unmarkedStem } from '../analysis/stem-word.ts'
import type { Clause } from './parse-query.ts'

/** Words of the index in this order; `isPrefix`: the last one is the beginning of a word. */
export interface Alternative {
  readonly words: readonly string[]
  readonly isPrefix: boolean
  /** Its share of the score of the word as written. */
  readonly weight: number
}

const AS_WRITTEN = 1
const AS_FORM = 0.6

// Korean writes particles at the end of a word.
const PARTICLE = /(?:에서|에게|으로|까지|부터|하고|이나|에는|에도|[을를이가은는의에와과도로만])$/

/**
 * The forms in which a document may have a clause, with stems of these languages (undefined: all); the first is what the user wrote.
 */
export function alternativesOf({ kind, text, words }: Clause, stemmed?: readonly Language[]): Alternative[] {
  const [first] = words
  if (first === undefined) return []
  if (first.isPair && kind === 'word') return [text, text.replace(PARTICLE, '')].flatMap(pairsOf)
  const written = phrase(words)
  if (kind === 'quoted') return [written]
  if (kind === 'compound') return [written, ...joined(text, words)]
  return [written, ...formsOf(first, stemmed).map((form) => ({ words: [form], isPrefix: false, weight: AS_FORM }))]
}

/** An FTS5 expression for each alternative; no word has a quotation mark. */
export function expressionOf({ words, isPrefix }: Pick<Alternative, 'words' | 'isPrefix'>): string {
  return `"${words.join(' ')}"${isPrefix ? '*' : ''}`
}

/** The index holds the last character of a run alone, so a query that continues the run must leave that word out. */
function phrase(words: readonly Word[]): Alternative {
  const folded = words.map(({ folded }) => folded)
  const last = words.at(-1)
  const isSingle = last?.isPair === true && Array.from(last.source).length === 1
  const overlaps = isSingle && (words.at(-2)?.end ?? 0) > last.start
  if (overlaps) return { words: folded.slice(0, -1), isPrefix: false, weight: AS_WRITTEN }
  return { words: folded, isPrefix: isSingle, weight: AS_WRITTEN }
}

function pairsOf(text: string, index: number, all: readonly string[]): Alternative[] {
  const words = index > 0 && text === all[0] ? [] : splitWords(text)
  return words.length === 0 ? [] : [phrase(words)]
}

/** `e-mail` is also written `email`. */
function joined(text: string, words: readonly Word[]): Alternative[] {
  const form = /[,'’]\d/.test(text) ? withoutThousands(words) : spelledTogether(words)
  return form === undefined ? [] : [{ words: [form], isPrefix: false, weight: AS_FORM }]
}

/**
 * The spelling without umlauts, and the stems, usually in every language of the script, since one word does not show its language.
 * The English stem is also sought as a word, since the index keeps it as one if the text has that word.
 */
function formsOf(word: Word, stemmed?: readonly Language[]): string[] {
  const { source, small, folded } = word
  const parts = partsOfName(word)
  if (parts.length > 0) return parts.length > 1 ? [parts.join('')] : []
  const script = scriptOf(source)
  if (script === undefined) return []
  const languages = languagesOf(script).filter((language) => stemmed?.includes(language) ?? true)
  const forms = new Set(languages.map((language) => stemWord(small, language)))
  if (languages.includes('en')) forms.add(unmarkedStem(stemWord(small, 'en')))
  forms.add(foldWord(withoutUmlauts(small)))
  forms.delete(folded)
  return [...forms]
}
