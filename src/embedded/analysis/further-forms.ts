import { type Languages, scriptOf } from './detect-language.ts'
import { isFunctionWord, type Language } from './function-words.ts'
import { foldWord, isPlain, partsOfName, type Word } from './split-words.ts'
import { stemWord, unmarkedStem } from './stem-word.ts'

const COMPOUNDING: ReadonlySet<string> = new Set(['de', 'nl', 'sv', 'da', 'no', 'fi'])
const MIN_HEAD = 4
const MIN_TAIL = 5
const MAX_JOINED = 12
const MAX_BROKEN = 64
/** Digits of what has one number in several spellings. */
const MIN_NUMBER = 7
const MAX_NUMBER = 24
// Where a part of a compound may begin: a vowel, or consonants that a word can begin with, before a vowel.
const ONSET = /^(?:[bcdfghjklmnprstvwz]|sch[lmnrw]?|st[r]?|sp[lr]?|[bcdfgkpt]r|[bcfgkp]l|kn|gn|pf|zw|schw|qu)?[aeiouy]/
const VOWEL = /[aeiouy]/
/** Names such as `x86` and `scan0012` have no other forms. */
const HAS_DIGIT = /\d/
const INNER_CAPITAL = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u
const PARTS_OF_IDENTIFIER = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' }

/**
 * The further forms under which words are found, each once: their stems, the ends of compounds, beginnings of version numbers,
 * parts of identifiers (`readFile`), words joined that a hyphen parts (`e-mail`), and umlauts written with an `e`. An English
 * stem that is a word of the text itself is left out, since searches look for it as a word, too: that is most of them.
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
  // A text too short to be certain of its language has the ends of its compounds only once, since languages so alike share them.
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
  // Some capitals have no small letter, such as those of mathematics.
  if ((source !== small || !isPlain(small)) && INNER_CAPITAL.test(source)) {
    for (const part of source.split(PARTS_OF_IDENTIFIER)) if (part.length > 1) forms.add(foldWord(part))
  }
}

/** `2.39.1` is found as `2.39`, too. */
function addVersions(version: string, forms: Set<string>): void {
  const parts = version.split('.')
  for (let count = 2; count < parts.length; count += 1) forms.add(parts.slice(0, count).join('.'))
}

/** True for a language that writes compounds as one word, which are found by their ends. */
export function isCompounding(language: string): boolean {
  return COMPOUNDING.has(language)
}

/** Each end of a stem at which a word of its own could begin. */
function addTails(stem: string, language: Language, forms: Set<string>): void {
  const end = stem.length - language.length - 1
  for (let at = MIN_HEAD; at <= end - MIN_TAIL; at += 1) {
    const tail = stem.slice(at)
    if (ONSET.test(tail) && VOWEL.test(stem.slice(0, at))) forms.add(tail)
  }
}

const JOINING = "-‐‑\u00ad,'’"
const HYPHEN = /[-‐‑]/
const THOUSANDS = /[,'’]/
const GROUP = /^\d{3}(?:\.\d+)?$/
/** A hyphen at the end of a line, as documents have it that were set for paper, with what leads to the next line. */
const LINE_END = /[-‐‑\u00ad][^\S\n]*\n\s*/y
const MAX_IN_RUN = 8

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
    add((first.folded + next.folded).slice(0, MAX_BROKEN))
}

/** The words from this one on that such a sign joins. */
function runFrom(text: string, words: readonly Word[], index: number, sign: RegExp): Word[] {
  const run = words.slice(index, index + MAX_IN_RUN)
  const end = run.findIndex((word, at) => {
    const before = run[at - 1]
    return before && (word.isPair || word.start !== before.end + 1 || !sign.test(text.charAt(before.end)))
  })
  return end < 0 ? run : run.slice(0, end)
}

/**
 * The spelling without signs of words that hyphens join, such as `email`, `utf8` and the number of a book; undefined where it would be another word:
 * `10-20` is not 1020.
 */
export function spelledTogether(words: readonly Word[]): string | undefined {
  const joined = words.map(({ folded }) => folded).join('')
  if (/^\d+x?$/.test(joined)) return joined.length >= MIN_NUMBER && joined.length <= MAX_NUMBER ? joined : undefined
  return words.length === 2 && joined.length <= MAX_JOINED && !/[~.]/.test(joined) ? joined : undefined
}

/** `1,234.56` as `1234.56`. */
export function withoutThousands([first, ...groups]: readonly Word[]): string | undefined {
  const isNumber = groups.length > 0 && /^\d{1,3}$/.test(first?.folded ?? '')
  if (!first || !isNumber || !groups.every(({ folded }) => GROUP.test(folded))) return undefined
  return first.folded + groups.map(({ folded }) => folded).join('')
}

/** `Müller` as `Mueller`. */
export function withoutUmlauts(word: string): string {
  return word.replace(/[äöüåø]/g, (letter) => UMLAUTS[letter] ?? letter)
}
