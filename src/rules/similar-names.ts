interface UploadedFile {
  readonly name: string
  readonly mime: string
}

interface Entry {
  readonly title: string
  readonly slug: string
  readonly mime_type: string
}

/**
 * Ranks how likely an upload of this name created a listed entry: 0 for the same title, 1 for the same letters and digits
 * in title or slug, 2 when one begins with the other (services shorten slugs and number duplicates); undefined when it
 * can't have.
 */
export function rankCandidate(entry: Entry, upload: UploadedFile): 0 | 1 | 2 | undefined {
  if (entry.mime_type !== upload.mime) return undefined
  if (entry.title === upload.name) return 0
  const stem = nameKey(upload.name)
  const seen = [reduce(stemOf(entry.title)), reduce(entry.title), reduce(entry.slug)]
  if (seen.includes(stem)) return 1
  const isBeginning = (text: string) => text !== '' && stem !== '' && (text.startsWith(stem) || stem.startsWith(text))
  return seen.some(isBeginning) ? 2 : undefined
}

/** Most entries of a merely similar name (rank 2) that are downloaded and compared. */
export const MOST_OF_LIKE_NAME = 8

/** The entries to compare with an upload, likeliest first: all of rank 0 and 1, and some of rank 2. */
export function listCandidates<E extends Entry>(entries: readonly E[], upload: UploadedFile): E[] {
  const ranked = entries.map((entry) => ({ entry, rank: rankCandidate(entry, upload) }))
  const ofRank = (wanted: number) => ranked.flatMap(({ entry, rank }) => (rank === wanted ? [entry] : []))
  return [...ofRank(0), ...ofRank(1), ...ofRank(2).slice(0, MOST_OF_LIKE_NAME)]
}

/** The keys of an entry. Names are similar when their keys are equal or one begins with the other. */
export function nameKeys({ title, filename }: { readonly title: string; readonly filename: string }): string[] {
  return [...new Set([reduce(stemOf(title)), reduce(title), reduce(stemOf(filename))])]
}

export function nameKey(name: string): string {
  return reduce(stemOf(name))
}

function stemOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}

function reduce(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
