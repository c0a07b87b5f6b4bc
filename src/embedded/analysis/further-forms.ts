import { type Languages, scriptOf } from './detect-language.ts'
import { isFunctionWord, type Language } from './function-words.ts'
import { foldWord, isPlain, partsOfName, type Word } from './split-words.ts'
import { stemWord, unmarkedStem } from './stem-word.ts'

const COMPOUNDING: ReadonlySet<string> = new Set(['de', 'nl', 'sv', 'da', 'no', 'fi'])
const MIN_HEAD = 4
const MIN_TAIL = 5
const MAX_JOINED = 12
// Where a part of a compound may begin: a vowel, or consonants that a word can begin with, before a vowel.
const ONSET = /^(?:[bcdfghjklmnprstvwz]|sch[lmnrw]?|st[r]?|sp[lr]?|[bcdfgkpt]r|[bcfgkp]l|kn|gn|pf|zw|schw|qu)?[aeiouy]/
const VOWEL = /[aeiouy]/
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
  const written = new Set(words.map(({ folded }) => folded))
  const seen = new Set<string>()
  for (const [index, word] of words.entries()) {
    if (word.isPair) continue
    addJoined(text, word, words[index + 1], forms)
    if (seen.has(word.source)) continue
    seen.add(word.source)
    const parts = partsOfName(word)
    if (parts.length > 0) for (const part of [...parts, parts.join('')]) forms.add(part)
    else addForms(word, languages, written, forms)
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
  for (const language of languages.get(script) ?? []) {
    if (isFunctionWord(small, language)) continue
    const stem = stemWord(small, language)
    if (language !== 'en' || !written.has(unmarkedStem(stem))) forms.add(stem)
    if (COMPOUNDING.has(language)) addTails(stem, language, forms)
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

function addJoined(text: string, word: Word, next: Word | undefined, forms: Set<string>): void {
  if (!next || next.isPair || next.start !== word.end + 1 || !/[-‐‑]/.test(text.charAt(word.end))) return
  if (word.folded.length + next.folded.length > MAX_JOINED || /\d/.test(next.folded + word.folded)) return
  forms.add(word.folded + next.folded)
}

/** `Müller` as `Mueller`. */
export function withoutUmlauts(word: string): string {
  return word.replace(/[äöüåø]/g, (letter) => UMLAUTS[letter] ?? letter)
}
