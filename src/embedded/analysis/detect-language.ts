import { FUNCTION_WORDS, type Language } from './function-words.ts'
import type { Word } from './split-words.ts'
import { isPlain } from './split-words.ts'

type Script = 'Latin' | 'Cyrillic' | 'Greek' | 'Arabic' | 'Hebrew' | 'Devanagari'

/** The languages of each script; detection falls back on the first one. */
const CANDIDATES: Readonly<Partial<Record<Script, readonly Language[]>>> = {
  Latin: ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'no', 'fi', 'hu', 'ro', 'tr', 'pl', 'cs', 'id'],
  Cyrillic: ['ru', 'uk', 'bg'],
  Greek: ['el'],
  Arabic: ['ar'],
  Hebrew: ['he'],
  Devanagari: ['hi'],
}

const SCRIPTS: readonly (readonly [Script, RegExp])[] = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Arabic', /\p{Script=Arabic}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Devanagari', /\p{Script=Devanagari}/u],
]

/** Letters that speak for a language in texts too short for function words. */
const TYPICAL_LETTERS: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/ß/, ['de']],
  [/[äö]/, ['de', 'sv', 'fi']],
  [/ü/, ['de', 'tr', 'hu']],
  [/[êèœù]|ç/, ['fr', 'pt']],
  [/[ñ¿¡]/, ['es']],
  [/[ãõ]/, ['pt']],
  [/[óíú]/, ['es', 'pt', 'cs', 'hu']],
  [/[òì]/, ['it']],
  [/å/, ['sv', 'da', 'no']],
  [/[øæ]/, ['da', 'no']],
  [/[őű]/, ['hu']],
  [/[ățș]/, ['ro']],
  [/[ğışİ]/, ['tr']],
  [/[łżźśćń]|[ąę]/, ['pl']],
  [/[řěůčšž]/, ['cs']],
  [/[іїєґ]/, ['uk']],
  [/[ыэ]/, ['ru']],
  [/ъ/, ['bg', 'ru']],
]
/** Two languages with nearly the same function words and stems: the likelier one is enough, since searches look for the stems of both. */
export const TWINS: Readonly<Partial<Record<Language, Language>>> = { da: 'no', no: 'da' }
const MAX_SAMPLE = 200
const CERTAIN = 4
const LONG_TEXT = 100
/** A word counts this often at most: programs repeat the variables `a` and `i`, and addresses end in `.com`. */
const MAX_COUNTED = 2
const SINGLE_LETTER = 0.25

const LANGUAGES_OF_WORD = new Map<string, Language[]>()
for (const [language, words] of FUNCTION_WORDS) {
  for (const word of words) LANGUAGES_OF_WORD.set(word, [...(LANGUAGES_OF_WORD.get(word) ?? []), language])
}

/** The language of each script in a text, the likeliest first; a second one when the text is too short to be certain. */
export type Languages = ReadonlyMap<Script, readonly Language[]>

/** Decides by function words, and by the letters of words that are none. */
export function detectLanguages(words: readonly Word[]): Languages {
  const scores = new Map<Language, number>()
  const add = (language: Language, points: number) => scores.set(language, (scores.get(language) ?? 0) + points)
  const scripts = new Set<Script>()
  const counts = new Map<string, number>()
  for (const { source, small, isPair } of words.slice(0, MAX_SAMPLE)) {
    const script = isPair ? undefined : scriptOf(source)
    if (script === undefined) continue
    scripts.add(script)
    const languages = LANGUAGES_OF_WORD.get(small)
    if (languages) {
      const count = (counts.get(small) ?? 0) + 1
      counts.set(small, count)
      const points = small.length === 1 ? SINGLE_LETTER : 1
      if (count <= MAX_COUNTED) for (const language of languages) add(language, points)
    }
    if (!isPlain(small)) {
      for (const [letters, languages] of TYPICAL_LETTERS)
        if (letters.test(small)) for (const each of languages) add(each, 0.6)
    }
  }
  const isLong = words.length >= LONG_TEXT
  return new Map([...scripts].map((script) => [script, likeliest(script, scores, isLong)]))
}

function likeliest(script: Script, scores: ReadonlyMap<Language, number>, isLong: boolean): readonly Language[] {
  const candidates = CANDIDATES[script] ?? []
  const scoreOf = (language: Language) => scores.get(language) ?? 0
  const [usual] = candidates
  const [first, ...others] = candidates.toSorted((one, other) => scoreOf(other) - scoreOf(one))
  const second = others.find((language) => TWINS[language] !== first)
  if (first === undefined || second === undefined || usual === undefined) return candidates
  if (scoreOf(first) >= CERTAIN && scoreOf(first) >= 1.2 * scoreOf(second)) return [first]
  // A text of this length that is in a language has more of its function words: this is a program, or a list of names.
  if (isLong && scoreOf(first) < CERTAIN) return [usual]
  return [...new Set([first, scoreOf(second) > 0 ? second : usual])]
}

/** The script of the first letter; undefined for a number, and for scripts whose languages nothing is known of. */
export function scriptOf(word: string): Script | undefined {
  const code = word.charCodeAt(0)
  if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) return 'Latin'
  return SCRIPTS.find(([, pattern]) => pattern.test(word))?.[0]
}

export function languagesOf(script: Script): readonly Language[] {
  return CANDIDATES[script] ?? []
}
