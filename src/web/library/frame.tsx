import { useRef, useState } from 'preact/hooks'
import { KeyboardHelp } from '../common/dialog.tsx'
import { useAddress, useIsFirst } from '../common/use-address.ts'
import { useKeys } from '../common/use-keys.ts'
import { DirectoryView } from './directory-view.tsx'
import { DocumentView } from './document/document-view.tsx'
import { Header } from './header.tsx'
import { LibrariesView } from './libraries-view.tsx'
import { directoryRoute, parseAddress, type Route } from './routes.ts'
import { SearchView } from './search-view.tsx'
import { useSession } from './session.ts'
import { useDropGuard } from './upload/drop-zone.tsx'
import { UploadsPanel } from './upload/uploads-panel.tsx'
import { useUploads } from './upload/use-uploads.ts'

const KEYS = [
  ['/', 'to the search'],
  ['↓ ↑', 'to the next or previous entry of a list; ↓ in the search field to the first hit'],
  ['Home End', 'to the first or last entry'],
  ['Enter', 'opens the entry'],
  ['Esc', 'closes a document or a search, goes up from a directory, empties the search field'],
  ['?', 'shows these keys'],
] as const

export function Frame({ onSignOut }: { onSignOut(): void }) {
  const { api, libraries } = useSession()
  const { current, previous } = useAddress()
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  const uploads = useUploads(api)
  const search = useRef<HTMLInputElement>(null)
  const isFirst = useIsFirst(current)
  useDropGuard()
  useKeys({
    '/': (event) => {
      event.preventDefault()
      search.current?.focus()
      search.current?.select()
    },
    '?': () => setIsHelpOpen(true),
  })
  const [only, ...others] = libraries
  const asked = parseAddress(current)
  const route: Route = asked.view === 'libraries' && only && others.length === 0 ? directoryRoute(only.id, '/') : asked
  const view = { cameFrom: previous, takesFocus: !isFirst }
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Header route={route} searchField={search} onHelp={() => setIsHelpOpen(true)} onSignOut={onSignOut} />
      <main id="main" tabIndex={-1}>
        <UploadsPanel uploads={uploads} isWhole={route.view === 'directory'} />
        {route.view === 'libraries' && <LibrariesView {...view} />}
        {route.view === 'directory' && <DirectoryView key={current} route={route} uploads={uploads} {...view} />}
        {route.view === 'document' && <DocumentView key={current} route={route} {...view} />}
        {route.view === 'search' && <SearchView key={`${route.library} ${route.query}`} route={route} {...view} />}
      </main>
      {isHelpOpen && <KeyboardHelp keys={KEYS} onClose={() => setIsHelpOpen(false)} />}
    </>
  )
}
