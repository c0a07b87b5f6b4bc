/** The page of the library, see docs/library-page.md. */

import { useMemo } from 'preact/hooks'
import { addressOf, useAddress } from '../common/address.ts'
import { Frame, start } from '../common/frame.tsx'
import { useLoaded, WhenLoaded } from '../common/loaded.tsx'
import { useToken } from '../common/session.ts'
import { LIBRARIES_ADDRESS } from './addresses.ts'
import { ApiClient } from './api-client.ts'
import { DirectoryView } from './directory-view.tsx'
import { DocumentView } from './document/document-view.tsx'
import { Header } from './header.tsx'
import { LibrariesView } from './libraries-view.tsx'
import { SearchView } from './search-view.tsx'
import { SessionContext } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { useDropGuard } from './upload/drop-zone.tsx'
import { UploadsPanel } from './upload/uploads-panel.tsx'
import { useUploads } from './upload/use-uploads.ts'

const KEYS = [
  ['/', 'to the search'],
  ['↓ ↑', 'to the next or previous entry of a list; ↓ in the search field to the first hit'],
  ['Home End', 'to the first or last entry'],
  ['Enter', 'opens the entry'],
  ['Esc', 'closes a document or a search, goes up from a directory, empties the search field'],
] as const

function Page() {
  const { token, reason, signIn, signOut } = useToken('shelfd.token')
  if (token === '') return <SignIn reason={reason} onSignedIn={signIn} />
  return <SignedIn token={token} onSignOut={signOut} />
}

/** The views, by the first part of the address after the `#`. */
const VIEWS = { files: DirectoryView, documents: DocumentView, search: SearchView }

function SignedIn({ token, onSignOut }: { readonly token: string; onSignOut(why?: string): void }) {
  const api = useMemo(() => new ApiClient(token, onSignOut), [token])
  const access = useLoaded(token, (signal) => api.checkAccess(signal))
  const libraries = (access.value?.libraries ?? []).filter((library) => library.access.includes('read'))
  const uploads = useUploads(api)
  useDropGuard()
  // Filters make no other view.
  const { id, ...asked } = useAddress(({ view, names, query, words }) =>
    addressOf(view, { ...query, word: words, directory: '', kind: '', versions: '' }, names),
  )
  if (!access.value) {
    return (
      <main>
        <h1>Library</h1>
        <WhenLoaded what="the library" found={access} />
      </main>
    )
  }
  const [only, ...others] = libraries
  const isHome = !Object.hasOwn(VIEWS, asked.view)
  const shown = isHome && only && others.length === 0 ? { ...asked, view: 'files', names: [only.id] } : asked
  const View = VIEWS[shown.view as keyof typeof VIEWS] ?? LibrariesView
  return (
    <SessionContext.Provider value={{ api, libraries, uploads }}>
      <Frame home={LIBRARIES_ADDRESS} header={<Header {...shown} />} keys={KEYS} onSignOut={onSignOut}>
        <UploadsPanel uploads={uploads} isWhole={shown.view === 'files'} />
        <View key={id} {...shown} />
      </Frame>
    </SessionContext.Provider>
  )
}

start(<Page />)
