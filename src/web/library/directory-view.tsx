import { kindOf } from '../../contract/kinds.ts'
import { joinLibraryPath, nameOfLibraryPath, parentLibraryPath } from '../../contract/library-path.ts'
import type { DirectoryPage } from '../../contract/records.ts'
import type { ViewProps } from '../common/address.ts'
import { Icon } from '../common/icon.tsx'
import { List } from '../common/list.tsx'
import { Notice, useKeys, useLoaded, ViewHeading, WhenLoaded } from '../common/view.tsx'
import { directoryAddress, documentAddress } from './addresses.ts'
import { useSession } from './session.ts'
import { DropZone } from './upload/drop-zone.tsx'

const PAGE_SIZE = 200

/** Shows one page of a directory, on which files can be dropped. */
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
    <nav class="crumbs quiet" aria-label="Directory">
      <a href={directoryAddress(library, '/')}>{name}</a>
      {directoriesDownTo(path).map((directory) => (
        <span key={directory}>
          <span aria-hidden="true">/</span>
          <a href={directoryAddress(library, directory)}>{directory.slice(directory.lastIndexOf('/') + 1)}</a>
        </span>
      ))}
    </nav>
  )
}

function directoriesDownTo(path: string): string[] {
  return path === '/' ? [] : [...directoriesDownTo(parentLibraryPath(path)), path]
}

interface EntriesProps {
  readonly library: string
  readonly path: string
  readonly page: number
  readonly listing: DirectoryPage
  readonly cameFrom: string
}

function Entries({ library, path, page, listing, cameFrom }: EntriesProps) {
  const titles = Map.groupBy(listing.files, ({ title }) => title)
  return (
    <>
      <List label="Entries" cameFrom={cameFrom}>
        {listing.folders.map(({ name }) => (
          <li key={`folder ${name}`}>
            <a class="item" href={directoryAddress(library, joinLibraryPath(path, name))}>
              <Icon name="folder" />
              <span class="name">{name}</span>
              <span class="quiet">Directory</span>
            </a>
          </li>
        ))}
        {listing.files.map(({ id, title, filename, mime_type: mimeType }) => (
          <li key={`file ${filename}`}>
            <a class="item" href={documentAddress(library, id)}>
              <Icon name="file" />
              <span class="name">
                {title}
                {(titles.get(title)?.length ?? 0) > 1 && <span class="quiet slug">{filename}</span>}
              </span>
              <span class="quiet">{kindOf(mimeType)}</span>
            </a>
          </li>
        ))}
      </List>
      <Pager library={library} path={path} page={page} listing={listing} />
    </>
  )
}

/** Links to the next page only, because cursors do not lead back; the history of the browser does. */
function Pager({ library, path, page, listing: { next_cursor: cursor } }: Omit<EntriesProps, 'cameFrom'>) {
  if (page === 1 && cursor === null) return null
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && <a href={directoryAddress(library, path)}>First page</a>}
      <span class="quiet">Page {page}</span>
      {cursor !== null && <a href={directoryAddress(library, path, { page: String(page + 1), cursor })}>Next page</a>}
    </nav>
  )
}

export function LibrariesView({ cameFrom, takesFocus }: ViewProps) {
  const { libraries } = useSession()
  return (
    <section>
      <ViewHeading title="Libraries" takesFocus={takesFocus} />
      {libraries.length === 0 && (
        <Notice tone="plain">
          There is no library that your token may read. The right is <code>read</code>; whoever runs the server can give
          it.
        </Notice>
      )}
      <List label="Libraries" cameFrom={cameFrom}>
        {libraries.map(({ id, name, access }) => (
          <li key={id}>
            <a class="item" href={directoryAddress(id, '/')}>
              <span class="name">{name}</span>
              <span class="quiet">{access.includes('resource.create') ? 'read and upload' : 'read'}</span>
            </a>
          </li>
        ))}
      </List>
    </section>
  )
}
