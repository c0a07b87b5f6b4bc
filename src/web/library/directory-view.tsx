import { joinLibraryPath, nameOfLibraryPath, parentLibraryPath } from '../../contract/library-path.ts'
import type { ViewProps } from '../common/address.ts'
import { useLoaded, WhenLoaded } from '../common/loaded.tsx'
import { Notice } from '../common/notice.tsx'
import { useKeys } from '../common/use-keys.ts'
import { ViewHeading } from '../common/view-heading.tsx'
import { directoryAddress } from './addresses.ts'
import { Entries } from './entries.tsx'
import { useSession } from './session.ts'
import { DropZone } from './upload/drop-zone.tsx'

const PAGE_SIZE = 200

/** One page of a directory; files can be dropped on it. */
export function DirectoryView({ names: [library = '', ...names], query, cameFrom, takesFocus }: ViewProps) {
  const { api, libraries, uploads } = useSession()
  const path = joinLibraryPath('/', names.join('/'))
  const { cursor = '' } = query
  const page = Math.max(1, Number(query.page ?? 1) || 1)
  const listing = useLoaded(`${library} ${cursor} ${uploads.storedIn(library, path)} ${path}`, (signal) => {
    const query = { path, limit: String(PAGE_SIZE), ...(cursor !== '' && { cursor }) }
    return api.listDirectory(library, query, signal)
  })
  useKeys({
    Escape: () => {
      if (path !== '/') location.hash = directoryAddress(library, parentLibraryPath(path))
    },
  })
  const found = libraries.find(({ id }) => id === library)
  const title = path === '/' ? (found?.name ?? 'Library') : nameOfLibraryPath(path)
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
      <WhenLoaded what="the directory" found={listing}>
        {(entries) => (
          <>
            {entries.folders.length + entries.files.length === 0 && (
              <Notice tone="plain">{page > 1 ? 'Nothing more is here.' : 'This directory is empty.'}</Notice>
            )}
            <Entries library={library} path={path} page={page} listing={entries} cameFrom={cameFrom} />
          </>
        )}
      </WhenLoaded>
    </DropZone>
  )
}

export function Crumbs({ library, path }: { readonly library: string; readonly path: string }) {
  const { libraries } = useSession()
  const name = libraries.find(({ id }) => id === library)?.name ?? 'Library'
  return (
    <nav class="crumbs" aria-label="Directory">
      <a href={directoryAddress(library, '/')}>{name}</a>
      {waysTo(path).map((directory) => (
        <span key={directory}>
          <span aria-hidden="true">/</span>
          <a href={directoryAddress(library, directory)}>{directory.slice(directory.lastIndexOf('/') + 1)}</a>
        </span>
      ))}
    </nav>
  )
}

function waysTo(path: string): string[] {
  return path === '/' ? [] : [...waysTo(parentLibraryPath(path)), path]
}
