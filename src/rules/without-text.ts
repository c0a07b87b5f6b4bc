/** The remark that the store records for a resource without searchable text. */
export const WITHOUT_TEXT = "stored, its text can't be searched"

/** Returns whether a search finds words of the content; without text it finds at most the name. */
export function isTextSearchable(content: { readonly outcome: string | null; readonly ingestionNote: string | null }) {
  return content.outcome === 'searchable' && content.ingestionNote !== WITHOUT_TEXT
}

/** What a service may report beside the status. */
export interface ServiceRemarks {
  readonly textExtracted: boolean | undefined
  readonly warnings: readonly string[]
  readonly error: string | null
}

/** Returns the error if there is one, otherwise that the text is missing, otherwise the warnings. */
export function remarkOf({ textExtracted, warnings, error }: ServiceRemarks): string | null {
  if (error !== null && error !== '') return error
  if (textExtracted === false) return WITHOUT_TEXT
  return warnings.length === 0 ? null : warnings.join('; ')
}

/** Returns whether the service cannot read a content because of its encryption. Then only changed bytes are worth another try. */
export function needsPassword(remark: string | null): boolean {
  return remark !== null && /\bis (?:encrypted|password[- ]protected)\b/i.test(remark)
}

/** The type of empty files, which have no text whatever type their names suggest. */
export const EMPTY = 'inode/x-empty'

const KINDS: Readonly<Record<string, string>> = {
  [EMPTY]: 'empty',
  'application/pdf': 'PDF',
  'application/msword': 'DOC',
  'application/vnd.ms-excel': 'XLS',
  'application/vnd.ms-powerpoint': 'PPT',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'DOCX',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'XLSX',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PPTX',
  'application/vnd.oasis.opendocument.text': 'ODT',
  'application/vnd.oasis.opendocument.spreadsheet': 'ODS',
  'application/vnd.oasis.opendocument.presentation': 'ODP',
  'application/epub+zip': 'EPUB',
  'application/zip': 'archive',
  'application/gzip': 'archive',
  'application/x-tar': 'archive',
  'application/x-7z-compressed': 'archive',
}

const KINDS_BY_FAMILY: Readonly<Record<string, string>> = {
  image: 'picture',
  audio: 'audio',
  video: 'video',
  font: 'font',
}

const PLURALS: Readonly<Record<string, string>> = { archive: 'archives', picture: 'pictures', font: 'fonts' }

/** Returns a short name such as `PDF`, `DOCX` or `picture`; `other` for further types. */
export function kindName(mime: string): string {
  return KINDS[mime] ?? KINDS_BY_FAMILY[mime.slice(0, mime.indexOf('/'))] ?? 'other'
}

export function describeWithoutText(
  remark: string | null,
  { mime, size }: { readonly mime: string; readonly size: number },
): string | undefined {
  if (remark !== WITHOUT_TEXT) return undefined
  if (size === 0) return 'empty, so that there is nothing to search'
  const kind = kindName(mime)
  return `${WITHOUT_TEXT} (${kind === 'other' ? mime : kind})`
}

export type KindCounts = Readonly<Record<string, number>>

/** Adds up counts by the names of their kinds. A type with the count 0 is left out: its only file is gone since. */
export function countKinds(mimes: Iterable<readonly [mime: string, count: number]>): KindCounts {
  const counts = new Map<string, number>()
  for (const [mime, count] of mimes)
    if (count > 0) counts.set(kindName(mime), (counts.get(kindName(mime)) ?? 0) + count)
  return Object.fromEntries(counts)
}

/** For example `4 PDF, 2 DOCX, 3 other`: the most frequent kind first, `other` last. */
export function describeKinds(counts: KindCounts): string {
  const isOther = (kind: string) => Number(kind === 'other')
  return Object.entries(counts)
    .sort(([a, countA], [b, countB]) => isOther(a) - isOther(b) || countB - countA || (a < b ? -1 : 1))
    .map(([kind, count]) => `${count} ${count === 1 ? kind : (PLURALS[kind] ?? kind)}`)
    .join(', ')
}
