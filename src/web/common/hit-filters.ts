import { kindOf } from '../../contract/kinds.ts'
import { parentLibraryPath } from '../../contract/library-path.ts'
import type { ResourceRecord } from '../../contract/records.ts'

/** More directories are too many for a reader. */
const MAX_FILTERS = 100

/** Returns the directories, but for the root, below which some of the hits lie, with the number of these hits, sorted by path. */
export function directoriesOfHits(hits: readonly ResourceRecord[]): (readonly [path: string, hits: number])[] {
  return countEach(hits, (hit) => new Set((hit.paths ?? []).flatMap((path) => directoriesAbove(path)))).slice(
    0,
    MAX_FILTERS,
  )
}

/** Returns the kinds of the hits, as far as the service says their types, with the number of hits of each. */
export function kindsOfHits(hits: readonly ResourceRecord[]): (readonly [kind: string, hits: number])[] {
  return countEach(hits, ({ mime_type: type }) => (typeof type === 'string' ? [kindOf(type)] : []))
}

/** Returns whether one of the resource's places lies below the directory, and it is of the kind; an empty text means all. */
export function isFiltered(
  hit: ResourceRecord,
  { directory = '', kind = '' }: { readonly directory?: string; readonly kind?: string },
): boolean {
  const liesBelow = directory === '' || (hit.paths ?? []).some((path) => path.startsWith(`${directory}/`))
  return liesBelow && (kind === '' || kindOf(String(hit.mime_type ?? '')) === kind)
}

function countEach(
  hits: readonly ResourceRecord[],
  namesOf: (hit: ResourceRecord) => Iterable<string>,
): (readonly [name: string, hits: number])[] {
  const counts = new Map<string, number>()
  for (const hit of hits) {
    for (const name of namesOf(hit)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
}

function directoriesAbove(path: string): string[] {
  const parent = parentLibraryPath(path)
  return parent === '/' ? [] : [parent, ...directoriesAbove(parent)]
}
