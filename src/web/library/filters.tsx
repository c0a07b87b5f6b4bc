import { parentLibraryPath } from '../../contract/library-path.ts'
import type { ResourceRecord } from '../../contract/records.ts'
import { addressOf, type SearchRoute } from './routes.ts'
import { useSession } from './session.ts'

export function Filters({ route, hits }: { readonly route: SearchRoute; readonly hits: readonly ResourceRecord[] }) {
  const { libraries } = useSession()
  const directories = directoriesOfHits(hits)
  const go = (changed: Partial<SearchRoute>) => {
    location.hash = addressOf({ ...route, ...changed })
  }
  return (
    <div class="filters">
      {libraries.length > 1 && (
        <label>
          <span>In</span>
          <select
            value={route.library}
            onChange={({ currentTarget: { value } }) => go({ library: value, directory: '' })}
          >
            <option value="">all libraries</option>
            {libraries.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {(directories.length > 0 || route.directory !== '') && (
        <label>
          <span>Below</span>
          <select value={route.directory} onChange={({ currentTarget: { value } }) => go({ directory: value })}>
            <option value="">any directory</option>
            {directories.map(([path, count]) => (
              <option key={path} value={path}>
                {path} ({count})
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}

/** More directories are too many for a reader. */
const MOST = 100

/** Returns the directories, but for the root, below which some of the hits lie, with the number of these hits, sorted by path. */
function directoriesOfHits(hits: readonly ResourceRecord[]): (readonly [path: string, hits: number])[] {
  const counts = new Map<string, number>()
  for (const hit of hits) {
    const directories = new Set((hit.paths ?? []).flatMap((path) => directoriesAbove(path)))
    for (const directory of directories) counts.set(directory, (counts.get(directory) ?? 0) + 1)
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST)
}

/** Returns whether one of the resource's places lies below the directory; an empty one means all. */
export function liesBelow(hit: ResourceRecord, directory: string): boolean {
  return directory === '' || (hit.paths ?? []).some((path) => path.startsWith(`${directory}/`))
}

function directoriesAbove(path: string): string[] {
  const parent = parentLibraryPath(path)
  return parent === '/' ? [] : [parent, ...directoriesAbove(parent)]
}
