const ALPHABETS: readonly (readonly [RegExp, string])[] = [
  [/[a-z]/, 'abcdefghijklmnopqrstuvwxyz'],
  [/[а-я]/, 'абвгдежзийклмнопрстуфхцчшщъыьэюяіїє'],
  [/[α-ω]/, 'αβγδεζηθικλμνξοπρστυφχψω'],
  [/[א-ת]/, 'אבגדהוזחטיכלמנסעפצקרשת'],
  [/[ء-ي]/, 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'],
]
const MIN_LENGTH = 4
const MAX_LENGTH = 24

/** Every spelling that differs by one letter: two swapped, one too many, one wrong, one missing. None for short words and numbers. */
export function nearSpellings(word: string): string[] {
  if (word.length < MIN_LENGTH || word.length > MAX_LENGTH || /\d/.test(word)) return []
  const letters = ALPHABETS.find(([script]) => script.test(word))?.[1] ?? ''
  const spellings = new Set<string>()
  for (let at = 0; at <= word.length; at += 1) {
    const [before, after] = [word.slice(0, at), word.slice(at)]
    if (after.length > 1) spellings.add(before + after.charAt(1) + after.charAt(0) + after.slice(2))
    if (after.length > 0) spellings.add(before + after.slice(1))
    for (const letter of letters) {
      spellings.add(before + letter + after)
      if (after.length > 0) spellings.add(before + letter + after.slice(1))
    }
  }
  spellings.delete(word)
  return [...spellings]
}
