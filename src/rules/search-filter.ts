import { isWithin } from '../foundation/files/paths.ts'

export const SEARCH_ORDERS = ['relevance', 'newest', 'oldest', 'name', 'largest'] as const

/**
 * `current`: a file has this version, or nothing shows that it is an older one. `waiting`: its file has changed, and a search does not
 * find the new version yet. With the others, the last file got another version (`earlier`), is gone, or is left out.
 */
export type HitVersion = 'current' | 'waiting' | 'earlier' | 'gone' | 'left-out'

/** What the store has about the files of a resource that this computer sent. */
export interface ResourceFiles {
  readonly hasFile: boolean
  /** Why its last file no longer has it; null if the store never had a file of it. */
  readonly endedBy: 'changed' | 'gone' | 'ignored' | null
  /** The resource is the newest version of that file that a search finds. */
  readonly isNewestFound: boolean
}

const ENDED = { changed: 'earlier', gone: 'gone', ignored: 'left-out' } as const

/** The facts of a hit: from the store if it has the resource, otherwise from the service. Null: neither has the fact. */
export interface HitFacts {
  readonly mime: string | null
  readonly sizeBytes: number | null
  /** When the file last changed; without a file, when the resource was added. */
  readonly dateMs: number | null
  readonly version: HitVersion
  /** Absolute paths of some of its files on this computer, the last changed first. */
  readonly files: readonly string[]
  /** The absolute path of its last file, if it has no file any more; of a moved file, the path from which it was sent. */
  readonly formerFile: string | null
  readonly earlier: { readonly count: number; readonly newestMs: number } | null
  /** Its paths in the library; null when the service does not name them. */
  readonly libraryPaths: readonly string[] | null
}

/** A field that is null admits every hit. */
export interface SearchFilter {
  readonly versions: 'current' | 'all'
  /** `isLocal`: the facts already have only files of this directory. */
  readonly place: { readonly isLocal: true } | { readonly isLocal: false; readonly libraryPath: string } | null
  readonly isType: ((mime: string) => boolean) | null
  readonly sinceMs: number | null
  readonly beforeMs: number | null
  readonly order: (typeof SEARCH_ORDERS)[number]
}

/** Decides by the store if it has the resource (`files`), otherwise by what the service says (`supersededBy`). */
export function versionOf(files: ResourceFiles | undefined, supersededBy: unknown): HitVersion {
  if (files?.hasFile) return 'current'
  if (files?.isNewestFound) return 'waiting'
  if (files && files.endedBy !== null) return ENDED[files.endedBy]
  return typeof supersededBy === 'string' ? 'earlier' : 'current'
}

/** Returns whether a search shows a hit of this version. */
export function isShown(version: HitVersion, versions: SearchFilter['versions']): boolean {
  return versions === 'all' || version === 'current' || version === 'waiting'
}

/** Returns whether a filter passes a hit; `undecided` when a fact that it needs is unknown. */
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

/** Equal hits stay in the order of relevance. Hits without the fact come last. */
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
