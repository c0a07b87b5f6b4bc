import { isWithin } from '../foundation/files/paths.ts'

export const SEARCH_ORDERS = ['relevance', 'newest', 'oldest', 'name', 'largest'] as const

/** What is known of a hit: by our store if it has the resource, else by what the service says beside it; null: nobody says. */
export interface HitFacts {
  readonly mime: string | null
  readonly sizeBytes: number | null
  /** When its file was last changed; without a file here, when the resource was added. */
  readonly dateMs: number | null
  /** Absolute paths of some of its files here, the last changed first. */
  readonly files: readonly string[]
  /** Where the service says that it lies (2.10); null when it does not say. */
  readonly libraryPaths: readonly string[] | null
}

/** What a hit must be; null: anything. */
export interface SearchFilter {
  /** `isLocal`: one of the files of its facts, which are those of the place alone. */
  readonly place: { readonly isLocal: true } | { readonly isLocal: false; readonly libraryPath: string } | null
  readonly isType: ((mime: string) => boolean) | null
  readonly sinceMs: number | null
  readonly beforeMs: number | null
  readonly order: (typeof SEARCH_ORDERS)[number]
}

/** Returns whether a filter passes a hit; `undecided` when nobody says what it asks for. */
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

/** Sorts hits that come by relevance, which decides between equal ones; those of which nobody knows come last. */
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
