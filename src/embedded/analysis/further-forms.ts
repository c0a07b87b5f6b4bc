import { type Languages, scriptOf } from './detect-language.ts'
import { isFunctionWord, type Language } from './function-words.ts'
import { foldWord, isPlain, partsOfName, type Word } from './split-words.ts'
import { stemWord, unmarkedStem } from './stem-word.ts'

const COMPOUNDING: ReadonlySet<string> = new Set(['de', 'nl', 'sv', 'da', 'no', 'fi'])
const MIN_HEAD_LENGTH = 4
const MIN_TAIL_LENGTH = 5
const MAX_JOINED_LENGTH = 12
const MAX_DIVIDED_LENGTH = 64
/** How many digits a number has that is written with or without hyphens, such as that of a book or a telephone. */
const MIN_DIGITS = 7
const MAX_DIGITS = 24
// How a part of a compound may begin: with a vowel, or with consonants that can begin a word, followed by a vowel.
const ONSET = /^(?:[bcdfghjklmnprstvwz]|sch[lmnrw]?|st[r]?|sp[lr]?|[bcdfgkpt]r|[bcfgkp]l|kn|gn|pf|zw|schw|qu)?[aeiouy]/
const VOWEL = /[aeiouy]/
/** Names such as `x86` and `scan0012` have no other forms. */
const HAS_DIGIT = /\d/
const INNER_CAPITAL = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u
const PARTS_OF_IDENTIFIER = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' }

/**
 * Returns the further forms under which words are found, each once: stems, ends of compounds, beginnings of version numbers, parts of
 * identifiers (`readFile`), words without their hyphens (`e-mail`), and umlauts written with an `e`. Leaves out an English stem that is
 * itself a word of the text, as most are, since searches also look for it as a word.
 */
export function furtherForms(text: string, words: readonly Word[], languages: Languages): Set<string> {
  const forms = new Set<string>()
  const written = new Set<string>()
  for (const { folded } of words) written.add(folded)
  const seen = new Set<string>()
  for (const [index, word] of words.entries()) {
    if (word.isPair) continue
    addJoined(text, words, index, forms)
    if (seen.has(word.source)) continue
    seen.add(word.source)
    const parts = partsOfName(word)
    if (parts.length === 0) addForms(word, languages, written, forms)
    else for (const part of [...parts, parts.join('')]) forms.add(part)
  }
  return forms
}

function addForms(
  { source, small, folded }: Word,
  languages: Languages,
  written: ReadonlySet<string>,
  forms: Set<string>,
): void {
  const script = scriptOf(source)
  if (script === undefined) {
    addVersions(folded, forms)
    return
  }
  const candidates = languages.get(script) ?? []
  // If several languages are likely, only one adds ends of compounds, since the others would add nearly the same ones.
  const compounding = candidates.find((language) => COMPOUNDING.has(language))
  for (const language of candidates) {
    if (isFunctionWord(small, language)) continue
    const stem = stemWord(small, language)
    const unmarked = unmarkedStem(stem)
    const isItself = unmarked === folded
    const isFoundAsWord = language === 'en' ? isItself || written.has(unmarked) : isItself && HAS_DIGIT.test(folded)
    if (!isFoundAsWord) forms.add(stem)
    if (language === compounding) addTails(stem, language, forms)
  }
  const spelled = isPlain(small) ? small : withoutUmlauts(small)
  if (spelled !== small) forms.add(foldWord(spelled))
  // The second condition is for capitals without a lower case, such as those of mathematics.
  if ((source !== small || !isPlain(small)) && INNER_CAPITAL.test(source)) {
    for (const part of source.split(PARTS_OF_IDENTIFIER)) if (part.length > 1) forms.add(foldWord(part))
  }
}

/** Adds the beginnings of a version number: `2.39.1` is also found as `2.39`. */
function addVersions(version: string, forms: Set<string>): void {
  const parts = version.split('.')
  for (let count = 2; count < parts.length; count += 1) forms.add(parts.slice(0, count).join('.'))
}

/** Returns whether a language writes compounds as one word, so that they are found by their ends. */
export function isCompounding(language: string): boolean {
  return COMPOUNDING.has(language)
}

/** Adds each end of a stem that could be a word of its own. */
function addTails(stem: string, language: Language, forms: Set<string>): void {
  const end = stem.length - language.length - 1
  for (let at = MIN_HEAD_LENGTH; at <= end - MIN_TAIL_LENGTH; at += 1) {
    const tail = stem.slice(at)
    if (ONSET.test(tail) && VOWEL.test(stem.slice(0, at))) forms.add(tail)
  }
}

const JOINING = "-‐‑\u00ad,'’"
const HYPHEN = /[-‐‑]/
const THOUSANDS = /[,'’]/
const GROUP = /^\d{3}(?:\.\d+)?$/
/** Matches a hyphen that divides a word at the end of a line, up to the beginning of the next line. */
const LINE_END = /[-‐‑\u00ad][^\S\n]*\n\s*/y
const MAX_IN_RUN = 8

/** Adds the spellings without hyphens, commas or apostrophes of a run of words that begins with this one. */
function addJoined(text: string, words: readonly Word[], index: number, forms: Set<string>): void {
  const first = words[index]
  if (!first || first.end === text.length || !JOINING.includes(text.charAt(first.end))) return
  const sign = text.charAt(first.end)
  const add = (form: string | undefined) => {
    if (form !== undefined) forms.add(form)
  }
  const isBeginning = !/[-‐‑,'’.]/.test(text.charAt(first.start - 1))
  const hyphened = runFrom(text, words, index, HYPHEN)
  if (hyphened.length > 1) add(spelledTogether(hyphened.slice(0, 2)))
  if (hyphened.length > 2 && isBeginning) add(spelledTogether(hyphened))
  if (isBeginning && THOUSANDS.test(sign)) add(withoutThousands(runFrom(text, words, index, THOUSANDS)))
  const next = words[index + 1]
  LINE_END.lastIndex = first.end
  if (next && LINE_END.test(text) && LINE_END.lastIndex === next.start && /^\p{Ll}/u.test(next.source))
    add((first.folded + next.folded).slice(0, MAX_DIVIDED_LENGTH))
}

/** Returns this word and those after it that are joined by such a sign. */
function runFrom(text: string, words: readonly Word[], index: number, sign: RegExp): Word[] {
  const run = words.slice(index, index + MAX_IN_RUN)
  const end = run.findIndex((word, at) => {
    const before = run[at - 1]
    return before && (word.isPair || word.start !== before.end + 1 || !sign.test(text.charAt(before.end)))
  })
  return end < 0 ? run : run.slice(0, end)
}

/** Returns hyphenated words without hyphens, such as `email` or `utf8`; undefined if that changes the meaning: `10-20` is not 1020. */
export function spelledTogether(words: readonly Word[]): string | undefined {
  const joined = words.map(({ folded }) => folded).join('')
  if (/^\d+x?$/.test(joined)) return joined.length >= MIN_DIGITS && joined.length <= MAX_DIGITS ? joined : undefined
  return words.length === 2 && joined.length <= MAX_JOINED_LENGTH && !/[~.]/.test(joined) ? joined : undefined
}

/** Returns the words of `1,234.56` as `1234.56`; undefined for words that are no such number. */
export function withoutThousands([first, ...groups]: readonly Word[]): string | undefined {
  const isNumber = groups.length > 0 && /^\d{1,3}$/.test(first?.folded ?? '')
  if (!first || !isNumber || !groups.every(({ folded }) => GROUP.test(folded))) return undefined
  return first.folded + groups.map(({ folded }) => folded).join('')
}

/** Returns `Müller` as `Mueller`. */
export function withoutUmlauts(word: string): string {
  return word.replace(/[äöüåø]/g, (letter) => UMLAUTS[letter] ?? letter)
}
