import { parentLibraryPath } from '../../../contract/library-path.ts'
import { addressOf, directoryRoute } from '../routes.ts'
import { useSession } from '../session/session.ts'

/** The way from the library to a directory, each part of it a link. */
export function Crumbs({ library, path }: { readonly library: string; readonly path: string }) {
  const { libraries } = useSession()
  const name = libraries.find(({ id }) => id === library)?.name ?? 'Library'
  return (
    <nav class="crumbs" aria-label="Directory">
      <a href={addressOf(directoryRoute(library, '/'))}>{name}</a>
      {waysTo(path).map((directory) => (
        <span key={directory}>
          <span aria-hidden="true">/</span>
          <a href={addressOf(directoryRoute(library, directory))}>{directory.slice(directory.lastIndexOf('/') + 1)}</a>
        </span>
      ))}
    </nav>
  )
}

/** Each directory from below the root to this one. */
function waysTo(path: string): string[] {
  return path === '/' ? [] : [...waysTo(parentLibraryPath(path)), path]
}
