import { detectLanguages, scriptOf } from '../analysis/detect-language.ts'
import { FUNCTION_WORDS } from '../analysis/function-words.ts'
import { isPlain, splitWords, type Word } from '../analysis/split-words.ts'

const MIN_WORDS = 3
/** English prose has about 40 % function words, technical text 20 %, code and tables less than 10 %. */
const MIN_FUNCTION_WORDS = 0.15
/** English text has about four letters for each piece of an English vocabulary, other languages have two. */
const MIN_LETTERS_A_PIECE = 2.4
/** Where function words speak for English, so that the others may be names. */
const MIN_WITH_FUNCTION_WORDS = 1.8
/** If a query has this many, and no other language has more, that is not by chance. */
const CERTAIN = 2
/** The vocabulary of the model has a word, or its stem, that is cut into at most this many pieces. */
const KNOWN_PIECES = 2
/** The rest of a text may be in other letters, such as those of formulas. */
const MIN_LATIN = 0.8
const PART = /\p{Lu}?\p{Ll}+/gu

/** Counts the pieces into which the vocabulary of the model cuts a text: it cuts words that it does not know into short ones. */
type CountPieces = (text: string) => number

/** Returns whether a part of a document is English prose, or code of English words; tables and lists of names are not. */
export function isEnglishText(text: string, countPieces: CountPieces): boolean {
  const words = splitWords(text).filter(({ source }) => /\p{L}/u.test(source))
  if (words.length < MIN_WORDS) return false
  const { english, others } = countFunctionWords(words)
  const isEnglish = english >= MIN_FUNCTION_WORDS * words.length
  return (
    (mayBeEnglish(words) && (isEnglish || hasEnglishPieces(words, countPieces, MIN_LETTERS_A_PIECE))) ||
    (others <= english && hasKnownWords(words, countPieces))
  )
}

/** Returns whether a query is English. Most are too short for function words, so the vocabulary of the model decides. */
export function isEnglishQuery(query: string, countPieces: CountPieces): boolean {
  const words = splitWords(query)
  const { english, others } = countFunctionWords(words)
  const least = english >= CERTAIN && others <= english ? MIN_WITH_FUNCTION_WORDS : MIN_LETTERS_A_PIECE
  return (
    (mayBeEnglish(words) && hasEnglishPieces(words, countPieces, least)) ||
    (others <= english && hasKnownWords(words, countPieces))
  )
}

/** How many words are function words of English, and of the other language that has the most. */
function countFunctionWords(words: readonly Word[]) {
  const counts = new Map(
    [...FUNCTION_WORDS].map(([language, list]) => [
      language,
      words.filter(({ small }) => small.length > 1 && list.has(small)).length,
    ]),
  )
  const english = counts.get('en') ?? 0
  counts.delete('en')
  return { english, others: Math.max(...counts.values()) }
}

/** Half of the words are one or two pieces, and one of them is a whole piece: only English has such words beside names. */
function hasKnownWords(words: readonly Word[], countPieces: CountPieces): boolean {
  if (words.some(({ isPair, small }) => isPair || !isPlain(small))) return false
  const parts = words.flatMap(({ source }) => source.match(/\p{L}+/gu) ?? [])
  const pieces = parts.map((part) => countPieces(part.toLowerCase()))
  const known = pieces.filter((count) => count <= KNOWN_PIECES).length
  return known >= parts.length / 2 && parts.some((part, index) => part.length > 2 && pieces[index] === 1)
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
