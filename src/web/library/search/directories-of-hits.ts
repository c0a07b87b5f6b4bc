import { parentLibraryPath } from '../../../contract/library-path.ts'
import type { ResourceRecord } from '../../../contract/records.ts'

/** As many as a reader can look over. */
const MOST = 100

export interface DirectoryOfHits {
  readonly path: string
  readonly hits: number
}

/** The directories, but for the root, below which some of the hits lie, sorted by path. */
export function directoriesOfHits(hits: readonly ResourceRecord[]): DirectoryOfHits[] {
  const counts = new Map<string, number>()
  for (const hit of hits) {
    const directories = new Set((hit.paths ?? []).flatMap((path) => directoriesAbove(path)))
    for (const directory of directories) counts.set(directory, (counts.get(directory) ?? 0) + 1)
  }
  const sorted = [...counts].map(([path, count]) => ({ path, hits: count })).sort((a, b) => (a.path < b.path ? -1 : 1))
  return sorted.slice(0, MOST)
}

/** Whether one of the resource's places lies below the directory; an empty one stands for all. */
export function liesBelow(hit: ResourceRecord, directory: string): boolean {
  return directory === '' || (hit.paths ?? []).some((path) => path.startsWith(`${directory}/`))
}

function directoriesAbove(path: string): string[] {
  const parent = parentLibraryPath(path)
  return parent === '/' ? [] : [parent, ...directoriesAbove(parent)]
}
