/** Whole words: a part of one is no word that a search finds. */
const WORD = /(?<![\p{L}\p{M}\p{N}_])[\p{L}\p{M}]{4,20}(?![\p{L}\p{M}\p{N}_])/gu
const WITHOUT_BLANKS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Myanmar}\p{Script=Khmer}\p{Script=Lao}]{2,}/gu
const QUERY_WORDS = 3

/** The words of a text, each with how often it stands there. */
export function wordsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (word: string) => counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [run] of text.normalize('NFC').matchAll(WITHOUT_BLANKS)) add(run.slice(0, 4))
  for (const [word] of text.normalize('NFC').replace(WITHOUT_BLANKS, ' ').matchAll(WORD)) add(word)
  return counts
}

/** In how many texts each word stands. */
export function spreadOf(all: Iterable<ReadonlyMap<string, number>>): Map<string, number> {
  const spread = new Map<string, number>()
  for (const words of all) for (const word of words.keys()) spread.set(word, (spread.get(word) ?? 0) + 1)
  return spread
}

/** The three words of a text that the fewest texts have; a word that stands there twice is no slip of a reader. */
export function chooseWords(own: ReadonlyMap<string, number>, spread: ReadonlyMap<string, number>): string[] {
  const repeated = [...own.keys()].filter((word) => (own.get(word) ?? 0) > 1)
  const candidates = repeated.length >= QUERY_WORDS ? repeated : [...own.keys()]
  return candidates.sort((a, b) => (spread.get(a) ?? 0) - (spread.get(b) ?? 0)).slice(0, QUERY_WORDS)
}
