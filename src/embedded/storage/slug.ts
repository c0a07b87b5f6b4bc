import { createRequire } from 'node:module'

/** A filename that is unique in its directory: `slug` without extension, `filename` with it. */
export interface SluggedName {
  readonly slug: string
  readonly filename: string
}

const MAX_SLUG_LENGTH = 120

/** The name of a file as a title: without control characters, and without backslashes, which some systems take for directories. */
export function titleOf(fileName: string): string {
  return fileName.replace(/[\p{Cc}\\]/gu, '_')
}

/** The URL-friendly form of a file name, made unique by the smallest suffix from `-2` on when `isUsed` returns true. */
export function slugName(title: string, isUsed: (filename: string) => boolean): SluggedName {
  const [, stem = title, extension = ''] = /^(.+)\.([A-Za-z0-9]{1,16})$/s.exec(title) ?? []
  const slug = slugOf(stem)
  const numbered = (number: number): SluggedName => {
    const unique = number === 1 ? slug : `${slug}-${number}`
    return { slug: unique, filename: extension ? `${unique}.${extension.toLowerCase()}` : unique }
  }
  return numbered(firstFree((number) => isUsed(numbered(number).filename)))
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

/** Transliterates every script. Loads the table with the first name that needs it. */
function toAscii(text: string): string {
  if (!NOT_ASCII.test(text)) return text
  transliterate ??= loadTransliteration()
  return transliterate(text.normalize('NFC'))
}

function loadTransliteration(): (text: string) => string {
  const { default: anyAscii }: typeof import('any-ascii') = createRequire(import.meta.url)('any-ascii')
  return anyAscii
}

/** A free number found in logarithmic time: the first one when the used ones have no gap. */
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
