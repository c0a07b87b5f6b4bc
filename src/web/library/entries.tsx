import { kindOf } from '../../contract/kinds.ts'
import { joinLibraryPath } from '../../contract/library-path.ts'
import type { DirectoryPage } from '../../contract/records.ts'
import { Icon } from '../common/icon.tsx'
import { List } from '../common/list.tsx'
import { addressOf, type DirectoryRoute, directoryRoute, documentRoute } from './routes.ts'

interface EntriesProps {
  readonly route: DirectoryRoute
  readonly listing: DirectoryPage
  readonly cameFrom: string
}

export function Entries({ route, listing, cameFrom }: EntriesProps) {
  const { library, path } = route
  const titles = Map.groupBy(listing.files, ({ title }) => title)
  return (
    <>
      <List label="Entries" cameFrom={cameFrom}>
        {listing.folders.map(({ name }) => (
          <li key={`folder ${name}`}>
            <a class="item" href={addressOf(directoryRoute(library, joinLibraryPath(path, name)))}>
              <Icon name="folder" />
              <span class="name">{name}</span>
              <span class="quiet">Directory</span>
            </a>
          </li>
        ))}
        {listing.files.map(({ id, title, filename, mime_type: mimeType }) => (
          <li key={`file ${filename}`}>
            <a class="item" href={addressOf(documentRoute(library, id))}>
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
      <Pager route={route} nextCursor={listing.next_cursor} />
    </>
  )
}

/** Cursors lead forward only; the way back to the page before is the history of the browser. */
function Pager({ route, nextCursor }: { readonly route: DirectoryRoute; readonly nextCursor: string | null }) {
  if (route.page === 1 && nextCursor === null) return null
  return (
    <nav class="pager" aria-label="Pages">
      {route.page > 1 && <a href={addressOf(directoryRoute(route.library, route.path))}>First page</a>}
      <span class="quiet">Page {route.page}</span>
      {nextCursor !== null && <a href={addressOf({ ...route, page: route.page + 1, cursor: nextCursor })}>Next page</a>}
    </nav>
  )
}
