import type { ResourceRecord } from '../../../contract/records.ts'
import { addressOf, type SearchRoute } from '../routes.ts'
import { useSession } from '../session/session.ts'
import { directoriesOfHits } from './directories-of-hits.ts'

/** Restricts a search to a library, and its hits to a directory. */
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
            {directories.map(({ path, hits: count }) => (
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
