import { kindOf } from '../../contract/kinds.ts'
import { joinLibraryPath } from '../../contract/library-path.ts'
import type { DirectoryPage } from '../../contract/records.ts'
import { Icon } from '../common/icon.tsx'
import { List } from '../common/list.tsx'
import { directoryAddress, documentAddress } from './addresses.ts'

interface EntriesProps {
  readonly library: string
  readonly path: string
  readonly page: number
  readonly listing: DirectoryPage
  readonly cameFrom: string
}

export function Entries({ library, path, page, listing, cameFrom }: EntriesProps) {
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

/** Cursors lead forward only; the way back to the page before is the history of the browser. */
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
