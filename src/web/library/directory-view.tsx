import { nameOfLibraryPath, parentLibraryPath } from '../../contract/library-path.ts'
import { Failure, Loading, Notice } from '../common/notice.tsx'
import { useKeys } from '../common/use-keys.ts'
import { useLoaded } from '../common/use-loaded.ts'
import { ViewHeading } from '../common/view-heading.tsx'
import { Entries } from './entries.tsx'
import { addressOf, type DirectoryRoute, directoryRoute, type ViewProps } from './routes.ts'
import { useSession } from './session.ts'
import { DropZone } from './upload/drop-zone.tsx'
import type { Uploads } from './upload/use-uploads.ts'

const PAGE_SIZE = 200

interface DirectoryViewProps extends ViewProps {
  readonly route: DirectoryRoute
  readonly uploads: Uploads
}

/** One page of a directory; files can be dropped on it. */
export function DirectoryView({ route, uploads, cameFrom, takesFocus }: DirectoryViewProps) {
  const { library, path, cursor } = route
  const { api, libraries } = useSession()
  const listing = useLoaded(`${addressOf(route)} ${uploads.storedIn(library, path)}`, (signal) => {
    const query = { path, limit: String(PAGE_SIZE), ...(cursor !== '' && { cursor }) }
    return api.listDirectory(library, query, signal)
  })
  useKeys({
    Escape: () => {
      if (path !== '/') location.hash = addressOf(directoryRoute(library, parentLibraryPath(path)))
    },
  })
  const found = libraries.find(({ id }) => id === library)
  const title = path === '/' ? (found?.name ?? 'Library') : nameOfLibraryPath(path)
  const { value: page, error } = listing
  return (
    <DropZone
      canUpload={found?.access.includes('resource.create') ?? false}
      onFiles={(files) => uploads.add(library, path, files)}
      heading={
        <>
          {path !== '/' && <Crumbs library={library} path={parentLibraryPath(path)} />}
          <ViewHeading title={title} takesFocus={takesFocus} />
        </>
      }
    >
      {error !== undefined && <Failure error={error} onRetry={listing.retry} />}
      {!page && error === undefined && <Loading what="the directory" />}
      {page && page.folders.length + page.files.length === 0 && (
        <Notice tone="plain">{route.page > 1 ? 'Nothing more is here.' : 'This directory is empty.'}</Notice>
      )}
      {page && <Entries route={route} listing={page} cameFrom={cameFrom} />}
    </DropZone>
  )
}

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

function waysTo(path: string): string[] {
  return path === '/' ? [] : [...waysTo(parentLibraryPath(path)), path]
}
