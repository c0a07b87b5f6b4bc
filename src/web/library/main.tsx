/** The page of the library, see docs/library-page.md. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Address, addressOf } from '../common/address.ts'
import { Frame, SignedOut, start, useAddress } from '../common/frame.tsx'
import { focusFirstItem } from '../common/list.tsx'
import { useToken } from '../common/session.ts'
import { Choice, Command, Notice, useAction, useKeys, useLoaded, WhenLoaded } from '../common/view.tsx'
import { directoryAddress, LIBRARIES_ADDRESS } from './addresses.ts'
import { ApiClient } from './api-client.ts'
import { DirectoryView, LibrariesView } from './directory-view.tsx'
import { DocumentView } from './document/document-view.tsx'
import { SearchView } from './search-view.tsx'
import { SessionContext, useSession } from './session.ts'
import { useDropGuard } from './upload/drop-zone.tsx'
import { useUploads } from './upload/upload-queue.ts'
import { UploadsPanel } from './upload/uploads-panel.tsx'

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
  // A change of the filters keeps the view.
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
  const View = isHome && shown === asked ? LibrariesView : VIEWS[shown.view as keyof typeof VIEWS]
  return (
    <SessionContext.Provider value={{ api, libraries, uploads }}>
      <Frame home={LIBRARIES_ADDRESS} header={<Header {...shown} />} keys={KEYS} onSignOut={onSignOut}>
        <UploadsPanel uploads={uploads} hasList={shown.view === 'files'} />
        <View key={id} {...shown} />
      </Frame>
    </SessionContext.Provider>
  )
}

function Header({ view, names, query }: Address) {
  const { libraries } = useSession()
  const library = (view === 'search' ? query.library : names[0]) ?? ''
  return (
    <>
      {libraries.length > 1 && (
        <Choice
          class="library"
          label="Library"
          value={library}
          options={[['', 'All libraries'], ...libraries.map(({ id, name }) => [id, name] as const)]}
          onChange={(value) => {
            location.hash = value === '' ? LIBRARIES_ADDRESS : directoryAddress(value, '/')
          }}
        />
      )}
      <SearchForm asked={(view === 'search' && query.query) || ''} library={library} />
    </>
  )
}

function SearchForm({ asked, library }: { readonly asked: string; readonly library: string }) {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(asked)
  useKeys({
    '/': (event) => {
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    },
  })
  useLayoutEffect(() => setText(asked), [asked])
  const search = (event: Event) => {
    event.preventDefault()
    if (text.trim() === '') return
    location.hash = addressOf('search', { query: text.trim(), library })
  }
  const useKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && text !== '') setText('')
    else if (event.key === 'Escape') field.current?.blur()
    else if (event.key === 'ArrowDown') focusFirstItem()
    else return
    event.preventDefault()
  }
  return (
    <search>
      <form class="search-field" onSubmit={search}>
        <input
          ref={field}
          type="search"
          aria-label="Search"
          placeholder="Search"
          maxLength={1_000}
          value={text}
          onInput={({ currentTarget: { value } }) => setText(value)}
          onKeyDown={useKey}
        />
        {text === '' && (
          <span class="key" aria-hidden="true">
            /
          </span>
        )}
      </form>
    </search>
  )
}

interface SignInProps {
  /** Why the last session ended; empty at first. */
  readonly reason: string
  onSignedIn(token: string): void
}

function SignIn({ reason, onSignedIn }: SignInProps) {
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    document.title = 'Sign in · Library'
    field.current?.focus()
  }, [])
  const { failure, isRunning, run } = useAction(async () => {
    const token = field.current?.value.trim() ?? ''
    field.current?.select()
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Error('A token is one word of letters, digits and signs.')
    await new ApiClient(token).checkAccess(AbortSignal.timeout(20_000))
    onSignedIn(token)
  })
  const said = failure || reason
  const signIn = (event: Event) => {
    event.preventDefault()
    void run()
  }
  return (
    <SignedOut>
      <p>Search and browse the documents of this library.</p>
      <form onSubmit={signIn}>
        <label for="token">Access token</label>
        <input
          ref={field}
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="token-help"
        />
        {said !== '' && <Notice tone="problem">{said}</Notice>}
        <button type="submit" class="main" disabled={isRunning}>
          {isRunning ? 'Signing in …' : 'Sign in'}
        </button>
        <p id="token-help" class="quiet">
          Whoever runs the server finds one in the file <code>token</code> of its data directory, or makes one with{' '}
          <Command>serve tokens create</Command>. This tab keeps it until you sign out or close it.
        </p>
      </form>
    </SignedOut>
  )
}

start(<Page />)
