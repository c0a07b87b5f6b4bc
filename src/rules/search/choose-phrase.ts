const MOST_WORDS = 6
const LONGEST_WORD = 20
/** A text is looked through to here. */
const MOST_CHARACTERS = 65_536

/** Two or more words of letters with one blank between them, which no mark joins to further words or numbers. */
const RUN_OF_WORDS =
  /(?<![\p{L}\p{M}\p{N}\p{Pd}\p{Pc}\p{S}'’.@/\\])[\p{L}\p{M}]+(?: [\p{L}\p{M}]+)+(?![\p{L}\p{M}\p{N}\p{Pd}\p{Pc}\p{S}'’@/\\]|\.[\p{L}\p{N}])/gu

/**
 * Returns the longest run of up to six words of a plain text or Markdown document: a phrase that a search finds whatever it
 * makes of marks and line ends. Undefined for a text without one, such as a list of numbers or text without blanks.
 */
export function choosePhrase(text: string): string | undefined {
  const shown = text.slice(0, MOST_CHARACTERS).replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '\n')
  let longest: string | undefined
  for (const [run] of shown.matchAll(RUN_OF_WORDS)) {
    const words = run.split(' ').slice(0, MOST_WORDS)
    const phrase = words.join(' ')
    if (words.some((word) => word.length > LONGEST_WORD) || phrase.length <= (longest?.length ?? 0)) continue
    longest = phrase
  }
  return longest
}
