/** Letters that Unicode does not decompose, and letters that writers use for one another. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ĸ: 'k', ŋ: 'n' },
  ...{ ς: 'σ', ى: 'ي', ة: 'ه', ک: 'ك', ی: 'ي', ך: 'כ', ם: 'מ', ן: 'נ', ף: 'פ', ץ: 'צ' },
}
const REPLACED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')
// Accents of Latin, Greek and Cyrillic (but й is a letter), vowel points of Hebrew and Arabic, and invisible characters.
const DROPPED =
  /(?<!и)\p{Script=Inherited}(?<![\u3099\u309a])|[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u2060]/gu
const PLAIN = /^[\0-\x7f]*$/
const FOREIGN_DIGITS = /[\u0660-\u0669\u06f0-\u06f9]/g

/** True for ASCII, which has nothing to fold but capitals. */
export function isPlain(word: string): boolean {
  return PLAIN.test(word)
}

/** One spelling for all: small letters without accents, `ß` as `ss`, compatible forms (full width, ligatures) as plain ones. */
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

/** The word in small letters with its accents, which stemmers need. */
export function smallLetters(word: string): string {
  const small = word.toLowerCase()
  return isPlain(small) ? small : small.normalize('NFC').replace(/[\u0640\u064b-\u065f\u0670\u00ad\u2060]/g, '')
}
