/** A word of a text, or a pair of characters in a script that is written without blanks between words. */
export interface Word {
  /** The spelling in the index: `foldWord` of the word, at most MAX_LENGTH characters. */
  readonly folded: string
  /** The word in lower case, with its accents, for stemmers. */
  readonly small: string
  /** The word as it is in the text, from `start` to `end`. */
  readonly source: string
  readonly start: number
  readonly end: number
  readonly isPair: boolean
}

const MAX_LENGTH = 64
const INVISIBLE = '\\u00ad\\u200c\\u200d\\u2060'
// `C++`, `C#`, `.NET` and `node.js` are words of their own.
const name = (letter: string) =>
  `(?<![${letter}])(?:[A-Za-z]{1,12}(?:\\+\\+|\\.[Jj][Ss])|[A-Za-z]#|\\.[Nn][Ee][Tt])(?![${letter}+#])`
const LETTER = '\\p{L}\\p{N}'
// Dots belong to a number (`2.39.1`); every other punctuation mark ends a word.
const RUN = new RegExp(`${name(LETTER)}|[${LETTER}][${LETTER}\\p{M}${INVISIBLE}]*(?:(?<=\\p{Nd})\\.\\d+)*`, 'gu')
// RUN for texts in ASCII, which takes half the time.
const PLAIN_RUN = new RegExp(`${name('A-Za-z0-9')}|[A-Za-z0-9]+(?:(?<=[0-9])\\.\\d+)*`, 'g')
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const PAIRED = `[${SCRIPTS.map((script) => `\\p{Script=${script}}`).join('')}ーｰﾞﾟ]`
const HAS_PAIRED = new RegExp(PAIRED, 'u')
const HAS_LETTER = /[\p{L}\p{N}]/u
const PAIRED_OR_NOT = new RegExp(`${PAIRED}+|[^${PAIRED.slice(1)}+`, 'gu')
const LETTERS_BEFORE_VERSION = /^(\D.*?)(\d+\.[\d.]+)$/s

/** Returns whether a text has characters of a script that is written without blanks between words. */
export function hasPairedScript(text: string): boolean {
  return HAS_PAIRED.test(text)
}

/**
 * Returns the words of a text in their order. A run of Chinese, Japanese, Korean, Thai or the like becomes overlapping pairs of characters
 * and its last character alone, so that any part of the run is found as a phrase of pairs.
 */
export function splitWords(text: string): Word[] {
  const words: Word[] = []
  for (const { 0: run, index } of runsOf(text)) {
    if (isPlain(run) || !HAS_PAIRED.test(run)) pushWord(run, index, words)
    else splitRun(run, index, words)
  }
  return words
}

/** Returns the parts of a text between characters that belong to no word. Each part can be split into words separately. */
export function runsOf(text: string): RegExpStringIterator<RegExpExecArray> {
  return text.matchAll(isPlain(text) ? PLAIN_RUN : RUN)
}

function splitRun(run: string, at: number, words: Word[]): void {
  for (const { 0: part, index } of run.matchAll(PAIRED_OR_NOT)) {
    if (HAS_PAIRED.test(part)) pushPairs(part, at + index, words)
    else if (HAS_LETTER.test(part)) pushWord(part, at + index, words)
  }
}

function pushWord(source: string, start: number, words: Word[]): void {
  // `python3.11` and `v2.39` are a name and a version.
  const [, letters, version] = source.includes('.') ? (LETTERS_BEFORE_VERSION.exec(source) ?? []) : []
  if (letters !== undefined && version !== undefined) {
    if (letters.toLowerCase() !== 'v') push(letters, start, false, words)
    push(version, start + letters.length, false, words)
  } else {
    push(source, start, false, words)
  }
}

/** Adds the pairs of a run. Their positions are approximate if the run has half-width letters, several of which make one character. */
function pushPairs(run: string, at: number, words: Word[]): void {
  const characters = Array.from(run.normalize('NFKC'))
  const runEnd = at + run.length
  let start = at
  for (const [index, first] of characters.entries()) {
    push(first + (characters[index + 1] ?? ''), Math.min(start, runEnd - 1), true, words)
    start += first.length
  }
}

function push(source: string, start: number, isPair: boolean, words: Word[]): void {
  const small = lowerCaseOf(source)
  const plain = isPlain(small)
  const folded = (plain ? withoutSigns(small) : foldWord(source)).slice(0, MAX_LENGTH)
  // Some letters have no letter left after folding, such as U+FC5E, which becomes marks on a blank.
  if (!plain && !HAS_LETTER.test(folded)) return
  words.push({ folded, small, source, start, end: start + source.length, isPair })
}

/** Replaces signs, which the index cannot have: `c++` becomes `c~plus~plus`, which occurs in no text. */
function withoutSigns(small: string): string {
  return small.endsWith('+') || small.endsWith('#') ? small.replaceAll('+', '~plus').replaceAll('#', '~sharp') : small
}

/** Returns the words in a name such as `C++` or `node.js`; an empty list for any other word. */
export function partsOfName({ small, folded }: Word): string[] {
  if (!folded.includes('~') && !folded.includes('.')) return []
  return /^[.a-z]/.test(small) ? small.split(/[+#.]/).filter((part) => part !== '') : []
}

/** Replacements for letters that Unicode does not decompose, and for letters that people confuse when they type. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ĸ: 'k', ŋ: 'n' },
  ...{ ς: 'σ', ى: 'ي', ة: 'ه', ک: 'ك', ی: 'ي', ך: 'כ', ם: 'מ', ן: 'נ', ף: 'פ', ץ: 'צ' },
}
const REPLACED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')
// Accents of Latin, Greek and Cyrillic (except in й, which is a letter), vowel points of Hebrew and Arabic, and invisible characters.
const DROPPED =
  /(?<!и)\p{Script=Inherited}(?<![\u3099\u309a])|[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u2060]/gu
const PLAIN = /^[\0-\x7f]*$/
const FOREIGN_DIGITS = /[\u0660-\u0669\u06f0-\u06f9]/g

/** Returns whether a word is ASCII, in which only capitals have to be folded. */
export function isPlain(word: string): boolean {
  return PLAIN.test(word)
}

/** Returns a word in lower case without accents, with `ss` for `ß`, and plain letters for full-width ones and ligatures. */
export function foldWord(word: string): string {
  const small = word.toLowerCase()
  if (isPlain(small)) return small
  return small
    .normalize('NFKD')
    .toLowerCase()
    .replace(DROPPED, '')
    .replace(REPLACED, (letter) => LETTERS[letter] ?? letter)
    .replace(FOREIGN_DIGITS, (digit) => String(digit.charCodeAt(0) & 0xf))
    .normalize('NFC')
}

/** Returns a word in lower case with its accents, but without vowel points of Arabic and invisible characters. */
function lowerCaseOf(word: string): string {
  const small = word.toLowerCase()
  return isPlain(small) ? small : small.normalize('NFC').replace(/[\u0640\u064b-\u065f\u0670\u00ad\u2060]/g, '')
}
