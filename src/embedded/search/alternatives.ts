import { languagesOf, scriptOf } from '../analysis/detect-language.ts'
import type { Language } from '../analysis/function-words.ts'
import { spelledTogether, withoutThousands, withoutUmlauts } from '../analysis/further-forms.ts'
import { foldWord, partsOfName, splitWords, type Word } from '../analysis/split-words.ts'
import { stemWord, unmarkedStem } from '../analysis/stem-word.ts'
import type { Clause } from './parse-query.ts'

/** Consecutive words of the index. With `isPrefix`, the last one is the beginning of a word. */
export interface Alternative {
  readonly words: readonly string[]
  readonly isPrefix: boolean
  /** Its score as a share of the score of the word as the user wrote it. */
  readonly weight: number
}

const WRITTEN_WEIGHT = 1
const FORM_WEIGHT = 0.6

// Korean words end in particles.
const PARTICLE = /(?:에서|에게|으로|까지|부터|하고|이나|에는|에도|[을를이가은는의에와과도로만])$/

/** Returns the forms in which a document may contain a clause, the user's own first, with stems in the languages `stemmed` (default: all). */
export function alternativesOf({ kind, text, words }: Clause, stemmed?: readonly Language[]): Alternative[] {
  const [first] = words
  if (first === undefined) return []
  if (first.isPair && kind === 'word') return [text, text.replace(PARTICLE, '')].flatMap(pairsOf)
  const written = phrase(words)
  if (kind === 'quoted') return [written]
  if (kind === 'compound') return [written, ...joined(text, words)]
  return [written, ...formsOf(first, stemmed).map((form) => ({ words: [form], isPrefix: false, weight: FORM_WEIGHT }))]
}

/** Returns the FTS5 expression of an alternative. Words contain no quotation marks, so nothing is escaped. */
export function expressionOf({ words, isPrefix }: Pick<Alternative, 'words' | 'isPrefix'>): string {
  return `"${words.join(' ')}"${isPrefix ? '*' : ''}`
}

/**
 * Returns the alternative for words in this order. Scripts without spaces are indexed as pairs of characters, and the last character also
 * alone. A document may continue after the words of a query, so their last character is left out if a pair contains it already.
 */
function phrase(words: readonly Word[]): Alternative {
  const folded = words.map(({ folded }) => folded)
  const last = words.at(-1)
  const isSingle = last?.isPair === true && Array.from(last.source).length === 1
  const overlaps = isSingle && (words.at(-2)?.end ?? 0) > last.start
  if (overlaps) return { words: folded.slice(0, -1), isPrefix: false, weight: WRITTEN_WEIGHT }
  return { words: folded, isPrefix: isSingle, weight: WRITTEN_WEIGHT }
}

function pairsOf(text: string, index: number, all: readonly string[]): Alternative[] {
  const words = index > 0 && text === all[0] ? [] : splitWords(text)
  return words.length === 0 ? [] : [phrase(words)]
}

/** Returns the form without the signs between the words: `email` for `e-mail`, `1200` for `1,200`. */
function joined(text: string, words: readonly Word[]): Alternative[] {
  const form = /[,'’]\d/.test(text) ? withoutThousands(words) : spelledTogether(words)
  return form === undefined ? [] : [{ words: [form], isPrefix: false, weight: FORM_WEIGHT }]
}

/**
 * Returns the spelling without umlauts, and the stems in every language of the script (or of `stemmed`), because one word does not show its
 * language. The English stem is also searched as a word, because the index omits stems that the text itself contains.
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
