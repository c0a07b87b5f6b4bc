import { detectLanguages } from '../analysis/detect-language.ts'
import { isFunctionWord } from '../analysis/function-words.ts'
import { splitWords, type Word } from '../analysis/split-words.ts'

const MIN_WORDS = 3
/** English prose has about 40 % function words, technical text 20 %, code and tables less than 10 %. */
const MIN_FUNCTION_WORDS = 0.15
/** English text has about four letters for each piece of an English vocabulary, other languages have two. */
const MIN_LETTERS_A_PIECE = 2.4

/** Returns whether a part of a document is English prose; code, tables and lists of names are not. */
export function isEnglishProse(text: string): boolean {
  const words = splitWords(text).filter(({ source }) => /\p{L}/u.test(source))
  if (words.length < MIN_WORDS || !mayBeEnglish(words)) return false
  const functionWords = words.filter(({ small }) => isFunctionWord(small, 'en'))
  return functionWords.length >= MIN_FUNCTION_WORDS * words.length
}

/**
 * Returns whether a query is English. Queries are too short for function words, so the vocabulary of the model decides: it cuts words that
 * it does not know into short pieces, whose number is `countPieces`.
 */
export function isEnglishQuery(query: string, countPieces: (text: string) => number): boolean {
  const letters = query.match(/\p{L}/gu)?.length ?? 0
  return mayBeEnglish(splitWords(query)) && letters >= MIN_LETTERS_A_PIECE * countPieces(query)
}

/** Latin letters only, and no function words or letters that speak for another language. */
function mayBeEnglish(words: readonly Word[]): boolean {
  const languages = detectLanguages(words)
  if (words.some(({ isPair }) => isPair) || languages.size !== 1) return false
  return languages.get('Latin')?.[0] === 'en'
}
