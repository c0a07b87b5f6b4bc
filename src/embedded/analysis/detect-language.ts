import { FUNCTION_WORDS, type Language } from './function-words.ts'
import type { Word } from './split-words.ts'
import { isPlain } from './split-words.ts'

type Script = 'Latin' | 'Cyrillic' | 'Greek' | 'Arabic' | 'Hebrew' | 'Devanagari'

/** The languages of each script. The first one is assumed if a text does not tell its language. */
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

/** Letters that indicate certain languages, for texts that are too short for function words. */
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
/** Pairs of languages with nearly the same function words and stems. Only the likelier one is detected; searches use the stems of both. */
export const TWINS: Readonly<Partial<Record<Language, Language>>> = { da: 'no', no: 'da' }
const MAX_SAMPLE_WORDS = 200
const CERTAIN_SCORE = 4
const LONG_TEXT_WORDS = 100
/** How often a word counts at most: programs repeat the variables `a` and `i`, and addresses end in `.com`. */
const MAX_COUNTED = 2
const SINGLE_LETTER_SCORE = 0.25
const TYPICAL_LETTER_SCORE = 0.6

const LANGUAGES_OF_WORD = new Map<string, Language[]>()
for (const [language, words] of FUNCTION_WORDS) {
  for (const word of words) LANGUAGES_OF_WORD.set(word, [...(LANGUAGES_OF_WORD.get(word) ?? []), language])
}

/** The likely languages of a text for each of its scripts, the likeliest first; a second one only if the first is not certain. */
export type Languages = ReadonlyMap<Script, readonly Language[]>

/** Returns the languages of a text, by its function words and by letters that are typical of languages. */
export function detectLanguages(words: readonly Word[]): Languages {
  const scores = new Map<Language, number>()
  const add = (language: Language, points: number) => scores.set(language, (scores.get(language) ?? 0) + points)
  const scripts = new Set<Script>()
  const counts = new Map<string, number>()
  for (const { source, small, isPair } of words.slice(0, MAX_SAMPLE_WORDS)) {
    const script = isPair ? undefined : scriptOf(source)
    if (script === undefined) continue
    scripts.add(script)
    const languages = LANGUAGES_OF_WORD.get(small)
    if (languages) {
      const count = (counts.get(small) ?? 0) + 1
      counts.set(small, count)
      const points = small.length === 1 ? SINGLE_LETTER_SCORE : 1
      if (count <= MAX_COUNTED) for (const language of languages) add(language, points)
    }
    if (!isPlain(small)) {
      for (const [letters, languages] of TYPICAL_LETTERS)
        if (letters.test(small)) for (const each of languages) add(each, TYPICAL_LETTER_SCORE)
    }
  }
  const isLong = words.length >= LONG_TEXT_WORDS
  return new Map([...scripts].map((script) => [script, likeliest(script, scores, isLong)]))
}

function likeliest(script: Script, scores: ReadonlyMap<Language, number>, isLong: boolean): readonly Language[] {
  const candidates = CANDIDATES[script] ?? []
  const scoreOf = (language: Language) => scores.get(language) ?? 0
  const [usual] = candidates
  const [first, ...others] = candidates.toSorted((one, other) => scoreOf(other) - scoreOf(one))
  const second = others.find((language) => TWINS[language] !== first)
  if (first === undefined || second === undefined || usual === undefined) return candidates
  if (scoreOf(first) >= CERTAIN_SCORE && scoreOf(first) >= 1.2 * scoreOf(second)) return [first]
  // A long text in any language would have more function words, so this is a program or a list of names.
  if (isLong && scoreOf(first) < CERTAIN_SCORE) return [usual]
  return [...new Set([first, scoreOf(second) > 0 ? second : usual])]
}

/** Returns the script of the first letter of a word; undefined for a number and for scripts without detected languages. */
export function scriptOf(word: string): Script | undefined {
  const code = word.charCodeAt(0)
  if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) return 'Latin'
  return SCRIPTS.find(([, pattern]) => pattern.test(word))?.[0]
}

export function languagesOf(script: Script): readonly Language[] {
  return CANDIDATES[script] ?? []
}
