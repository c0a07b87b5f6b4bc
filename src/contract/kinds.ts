import { mimeOf } from './mime.ts'

/** Views that need the exact type show it beside the kind. */
const KINDS: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/^text\/markdown$/, 'Markdown'],
  [/^application\/pdf$/, 'PDF'],
  [/^(text\/html|application\/xhtml\+xml)$/, 'Web page'],
  [/^message\//, 'E-mail'],
  [/^image\//, 'Picture'],
  [/^audio\//, 'Sound'],
  [/^video\//, 'Video'],
  [/word|opendocument\.text|rtf$/, 'Document'],
  [/spreadsheet|excel|^text\/(csv|tab-separated)/, 'Table'],
  [/presentation|powerpoint/, 'Slides'],
  [/epub/, 'Book'],
  [/zip|tar|compress|7z|rar/, 'Archive'],
  [/^text\/plain$/, 'Text'],
  [/^text\/|json|xml|yaml|toml|javascript/, 'Text file'],
]

export const KIND_NAMES: readonly string[] = KINDS.map(([, kind]) => kind)

export function kindOf(mimeType: string): string {
  return KINDS.find(([pattern]) => pattern.test(mimeType))?.[1] ?? 'File'
}

/**
 * Returns whether a MIME type is what a word means: a kind (`picture`), an extension (`pdf`, and with it all of the same type), or
 * a MIME type (`application/pdf`, `image/*`). Undefined for a word that means none.
 */
export function typeMatcher(word: string): ((mimeType: string) => boolean) | undefined {
  const meant = word.toLowerCase()
  if (meant.endsWith('/*')) return (mimeType) => mimeType.startsWith(meant.slice(0, -1))
  if (meant.includes('/')) return (mimeType) => mimeType === meant
  if (KIND_NAMES.some((kind) => kind.toLowerCase() === meant))
    return (mimeType) => kindOf(mimeType).toLowerCase() === meant
  const ofExtension = mimeOf(`x.${meant.replace(/^\./, '')}`)
  return ofExtension === mimeOf('x') ? undefined : (mimeType) => mimeType === ofExtension
}
