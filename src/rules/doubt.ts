/** How often in one run a content whose upload is in doubt is looked for and, if it is certainly absent, sent again. */
export const DOUBT_ROUNDS = 6

/** The problem that such a content has until then. */
export const IN_DOUBT = {
  code: 'upload-in-doubt',
  message: 'not known whether it arrived; checked next run',
}

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
 * How likely a listed entry is what an upload of this name left behind: 0 for the same title, 1 for the same letters and
 * digits in title or slug, 2 for a beginning of one another (a service makes its slugs as it likes, cuts them, numbers
 * twins); undefined when it can't be it.
 */
export function rankCandidate(entry: Entry, upload: LookedFor): 0 | 1 | 2 | undefined {
  if (entry.mime_type !== upload.mime) return undefined
  if (entry.title === upload.name) return 0
  const stem = reduce(stemOf(upload.name))
  const seen = [reduce(stemOf(entry.title)), reduce(entry.title), reduce(entry.slug)]
  if (seen.includes(stem)) return 1
  const isBeginning = (text: string) => text !== '' && stem !== '' && (text.startsWith(stem) || stem.startsWith(text))
  return seen.some(isBeginning) ? 2 : undefined
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
