import { detectLanguages, scriptOf } from '../analysis/detect-language.ts'
import { FUNCTION_WORDS, isFunctionWord } from '../analysis/function-words.ts'
import { splitWords, type Word } from '../analysis/split-words.ts'

const MIN_WORDS = 3
/** English prose has about 40 % function words, technical text 20 %, code and tables less than 10 %. */
const MIN_FUNCTION_WORDS = 0.15
/** English text has about four letters for each piece of an English vocabulary, other languages have two. */
const MIN_LETTERS_A_PIECE = 2.4
/** Where function words speak for English, so that the others may be names. */
const MIN_WITH_FUNCTION_WORDS = 1.8
/** So many in a query, no fewer than of any other language, are no chance. */
const CERTAIN = 2
/** What is left of a text is in other letters, such as those of formulas. */
const MIN_LATIN = 0.8
const PART = /\p{Lu}?\p{Ll}+/gu

/** Counts the pieces into which the vocabulary of the model cuts a text: it cuts words that it does not know into short ones. */
type CountPieces = (text: string) => number

/** Returns whether a part of a document is English prose, or code of English words; tables and lists of names are not. */
export function isEnglishText(text: string, countPieces: CountPieces): boolean {
  const words = splitWords(text).filter(({ source }) => /\p{L}/u.test(source))
  if (words.length < MIN_WORDS || !mayBeEnglish(words)) return false
  const functionWords = words.filter(({ small }) => isFunctionWord(small, 'en'))
  return (
    functionWords.length >= MIN_FUNCTION_WORDS * words.length ||
    hasEnglishPieces(words, countPieces, MIN_LETTERS_A_PIECE)
  )
}

/** Returns whether a query is English. Most are too short for function words, so the vocabulary of the model decides. */
export function isEnglishQuery(query: string, countPieces: CountPieces): boolean {
  const words = splitWords(query)
  const least = isCertain(words) ? MIN_WITH_FUNCTION_WORDS : MIN_LETTERS_A_PIECE
  return mayBeEnglish(words) && hasEnglishPieces(words, countPieces, least)
}

function isCertain(words: readonly Word[]): boolean {
  const counts = new Map(
    [...FUNCTION_WORDS].map(([language, list]) => [language, words.filter(({ small }) => list.has(small)).length]),
  )
  const english = counts.get('en') ?? 0
  counts.delete('en')
  return english >= CERTAIN && [...counts.values()].every((count) => count <= english)
}

/** Judges by the parts of words in small letters: names of genes and of constants say nothing about the language. */
function hasEnglishPieces(words: readonly Word[], countPieces: CountPieces, least: number): boolean {
  const parts = words.flatMap(({ source }) => source.match(PART) ?? []).filter((part) => part.length > 1)
  const text = parts.join(' ')
  return parts.length > 0 && text.length - parts.length + 1 >= least * countPieces(text)
}

/** Latin letters, and no function words or letters that speak for another language. */
function mayBeEnglish(words: readonly Word[]): boolean {
  if (words.some(({ isPair }) => isPair)) return false
  const latin = words.filter(({ source }) => scriptOf(source) === 'Latin')
  const others = words.filter(({ source }) => /^\p{L}/u.test(source)).length - latin.length
  return latin.length >= MIN_LATIN * (latin.length + others) && detectLanguages(latin).get('Latin')?.[0] === 'en'
}
