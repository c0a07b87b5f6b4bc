import { isWithin } from '../foundation/files/paths.ts'

export const SEARCH_ORDERS = ['relevance', 'newest', 'oldest', 'name', 'largest'] as const

/** From our store if it has the resource, else from the service; null: unknown. */
export interface HitFacts {
  readonly mime: string | null
  readonly sizeBytes: number | null
  /** The last change of the file; without a file, when the resource was added. */
  readonly dateMs: number | null
  /** Absolute paths, the last changed first. */
  readonly files: readonly string[]
  /** Null when the service does not say. */
  readonly libraryPaths: readonly string[] | null
}

/** Null: anything. */
export interface SearchFilter {
  /** `isLocal`: the facts have only files of the place. */
  readonly place: { readonly isLocal: true } | { readonly isLocal: false; readonly libraryPath: string } | null
  readonly isType: ((mime: string) => boolean) | null
  readonly sinceMs: number | null
  readonly beforeMs: number | null
  readonly order: (typeof SEARCH_ORDERS)[number]
}

/** `undecided` when nobody knows what the filter asks for. */
export function decideHit(filter: SearchFilter, facts: HitFacts): 'passed' | 'rejected' | 'undecided' {
  const answers = [isThere(filter, facts), hasType(filter, facts), isOfTime(filter, facts)]
  if (answers.includes(false)) return 'rejected'
  return answers.includes(undefined) ? 'undecided' : 'passed'
}

function isThere({ place }: SearchFilter, { files, libraryPaths }: HitFacts): boolean | undefined {
  if (place === null) return true
  if (place.isLocal) return files.length > 0
  return libraryPaths?.some((path) => isWithin(place.libraryPath, path))
}

function hasType({ isType }: SearchFilter, { mime }: HitFacts): boolean | undefined {
  if (isType === null) return true
  return mime === null ? undefined : isType(mime)
}

function isOfTime({ sinceMs, beforeMs }: SearchFilter, { dateMs }: HitFacts): boolean | undefined {
  if (sinceMs === null && beforeMs === null) return true
  if (dateMs === null) return undefined
  return dateMs >= (sinceMs ?? -Infinity) && dateMs < (beforeMs ?? Infinity)
}

interface SortedHit {
  readonly title: string
  readonly facts: HitFacts
}

/** Relevance decides between equal hits; unknown ones come last. */
export function sortHits<T extends SortedHit>(hits: readonly T[], order: SearchFilter['order']): readonly T[] {
  const last = (value: number | null) => value ?? -Infinity
  switch (order) {
    case 'relevance':
      return hits
    case 'newest':
      return hits.toSorted((a, b) => last(b.facts.dateMs) - last(a.facts.dateMs) || 0)
    case 'oldest':
      return hits.toSorted((a, b) => (a.facts.dateMs ?? Infinity) - (b.facts.dateMs ?? Infinity) || 0)
    case 'name':
      return hits.toSorted((a, b) => a.title.localeCompare(b.title, 'en', { numeric: true }))
    case 'largest':
      return hits.toSorted((a, b) => last(b.facts.sizeBytes) - last(a.facts.sizeBytes) || 0)
  }
}
