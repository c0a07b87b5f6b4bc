import { createRequire } from 'node:module'

const MAX_SLUG_LENGTH = 120

/** Returns the title for a file name, with `_` for control characters and for backslashes, which separate directories on some systems. */
export function titleOf(fileName: string): string {
  return fileName.replace(/[\p{Cc}\\]/gu, '_')
}

/** Returns a title as a file name for URLs, with a suffix from `-2` on if `isUsed` returns true for the name without one. */
export function uniqueFilename(title: string, isUsed: (filename: string) => boolean): string {
  const [, stem = title, extension] = /^(.+)(\.[A-Za-z0-9]{1,16})$/s.exec(title) ?? []
  const slug = slugOf(stem)
  const numbered = (number: number) => `${slug}${number === 1 ? '' : `-${number}`}${extension?.toLowerCase() ?? ''}`
  return numbered(firstFree((number) => isUsed(numbered(number))))
}

function slugOf(text: string): string {
  const slug = toAscii(text)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-+|-+$/g, '')
  return slug || 'file'
}

const NOT_ASCII = /[^\p{ASCII}]/u

let transliterate: ((text: string) => string) | undefined

/** Transliterates any script. Its table is loaded with the first name that needs it. */
function toAscii(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  transliterate ??= loadTransliteration()
  return transliterate(text.normalize('NFC'))
}

function loadTransliteration(): (text: string) => string {
  const { default: anyAscii }: typeof import('any-ascii') = createRequire(import.meta.url)('any-ascii')
  return anyAscii
}

/** Finds an unused number from 1 on in logarithmic time; it is the smallest one if the used numbers have no gap. */
function firstFree(isUsed: (number: number) => boolean): number {
  let free = 1
  let used = 0
  while (isUsed(free)) {
    used = free
    free *= 2
  }
  while (free - used > 1) {
    const middle = Math.floor((free + used) / 2)
    if (isUsed(middle)) used = middle
    else free = middle
  }
  return free
}
