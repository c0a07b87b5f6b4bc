import { FUNCTION_WORDS, isFunctionWord, type Language } from '../../analysis/function-words.ts'
import type { Clause } from './parse-query.ts'

// In Chinese and Japanese, what stands between the words that carry the meaning.
const FUNCTION_SEGMENT =
  /^(?:\p{Script=Hiragana}{1,2}|[的了是在和有与及或吗呢]|什么|怎么|如何|怎样|为什么|哪里|どこ|どう|なに|なぜ|です|ます|する)$/u
const MIN_FUNCTION_WORDS = 2

/** Leaves out words without a meaning of their own, unless the query has no others. One English one is enough, others need company. */
export function dropFunctionWords(clauses: readonly Clause[]): readonly Clause[] {
  const languages = languagesOf(clauses)
  const meaningful = clauses.filter(({ kind, text, words }) => {
    if (kind !== 'word') return true
    if (words.some(({ isPair }) => isPair)) return !FUNCTION_SEGMENT.test(text)
    const small = words[0]?.small ?? ''
    return !languages.some((language) => isFunctionWord(small, language))
  })
  return meaningful.length > 0 ? meaningful : clauses
}

/** English, and the language that most of the function words are of. */
function languagesOf(clauses: readonly Clause[]): Language[] {
  const counts = [...FUNCTION_WORDS].map(([language, list]) => ({
    language,
    count: clauses.filter(({ words }) => words.some(({ small }) => list.has(small))).length,
  }))
  const likeliest = counts.reduce((one, other) => (other.count > one.count ? other : one))
  return likeliest.count < MIN_FUNCTION_WORDS ? ['en'] : ['en', likeliest.language]
}
