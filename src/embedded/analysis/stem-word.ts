import { stemmer as arabic } from '@orama/stemmers/arabic'
import { stemmer as danish } from '@orama/stemmers/danish'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as english } from '@orama/stemmers/english'
import { stemmer as finnish } from '@orama/stemmers/finnish'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as greek } from '@orama/stemmers/greek'
import { stemmer as hungarian } from '@orama/stemmers/hungarian'
import { stemmer as hindi } from '@orama/stemmers/indian'
import { stemmer as indonesian } from '@orama/stemmers/indonesian'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as norwegian } from '@orama/stemmers/norwegian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as romanian } from '@orama/stemmers/romanian'
import { stemmer as russian } from '@orama/stemmers/russian'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as swedish } from '@orama/stemmers/swedish'
import { stemmer as turkish } from '@orama/stemmers/turkish'
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian'
import type { Language } from './function-words.ts'
import { foldWord } from './split-words.ts'

type Stem = (word: string) => string

const STEMMERS: Readonly<Record<Language, Stem>> = {
  ...{ ar: arabic, da: danish, nl: dutch, en: english, fi: finnish, fr: french, de: german, el: greek },
  ...{ hu: hungarian, hi: hindi, id: indonesian, it: italian, no: norwegian, pt: portuguese, ro: romanian },
  ...{ ru: russian, es: spanish, sv: swedish, tr: turkish, uk: ukrainian },
  ...{ pl: withoutEnding, cs: withoutEnding, bg: withoutEnding, he: withoutPrefix },
}
const MAX_WORD_LENGTH = 40
const MAX_CACHED = 10_000

const cached = new Map<Language, Map<string, string>>()

/** Returns the folded stem of a lower-case word and its language (`librari~en`), so that stems of different languages never match. */
export function stemWord(word: string, language: Language): string {
  let stems = cached.get(language)
  if (!stems) {
    stems = new Map()
    cached.set(language, stems)
  }
  const known = stems.get(word)
  if (known !== undefined) return known
  const stem = word.length > MAX_WORD_LENGTH ? word : STEMMERS[language](word)
  const marked = `${foldWord(stem) || foldWord(word)}~${language}`
  if (stems.size >= MAX_CACHED) stems.clear()
  stems.set(word, marked)
  return marked
}

/** Returns a stem of `stemWord` without its language. */
export function unmarkedStem(stem: string): string {
  return stem.slice(0, stem.indexOf('~'))
}

export function isEnglishStem(word: string): boolean {
  return word.endsWith('~en')
}

/** The endings of nouns and adjectives: in Polish and Czech without accents, and in Bulgarian. */
const ENDING =
  /(?<=...)(?:ите|ията|ата|ята|ото|ето|ия|ът|ят|та|то|те|[аяоеи])$|(?<=...)(?:(?:am|em|ym|im)i|[aeiy]ch|ow[iae]?|[eo]ho|ego|emu|[oiaey]m|ej|iem?|ia|ou|[aeiouy])$/

function withoutEnding(word: string): string {
  return foldWord(word).replace(ENDING, '')
}

/** Removes articles, prepositions and "and", which Hebrew writes as the first letters of a word, and plural endings. */
function withoutPrefix(word: string): string {
  return word.replace(/^(?:ו?ש?[הבלמכ])(?=.{3})/, '').replace(/(?:ים|ות)$/, '')
}
