/** How often in one run a content whose upload is in doubt is looked for and, if it is certainly absent, sent again. */
export const DOUBT_ROUNDS = 6

interface LookedFor {
  readonly name: string
  readonly mime: string
}

interface Entry {
  readonly title: string
  readonly slug: string
  readonly mime_type: string
}

/**
 * Whether a listed entry may be what an upload of this name left behind: same kind, and a title or slug that starts like
 * the name once both are reduced to letters and digits (a service makes its slugs as it likes, cuts them, numbers twins).
 */
export function mayBeUpload(entry: Entry, upload: LookedFor): boolean {
  if (entry.mime_type !== upload.mime) return false
  if (entry.title === upload.name) return true
  const stem = reduce(stemOf(upload.name))
  return [reduce(entry.title), reduce(entry.slug)].some((seen) => seen.startsWith(stem) || stem.startsWith(seen))
}

function stemOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}

function reduce(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '')
}
