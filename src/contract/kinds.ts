import { mimeOf } from './mime.ts'

/** What users are shown for a MIME type; the first pattern that matches decides. */
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
 * Returns a test of MIME types for the word of a user: a kind (`picture`), an extension (`pdf`, for all files of its type) or a MIME
 * type (`application/pdf`, `image/*`). Returns undefined for a word that is none of these.
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
