import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Choice } from '../common/choice.tsx'
import { Logo } from '../common/icon.tsx'
import { focusFirstItem } from '../common/list.tsx'
import { SessionNav } from '../common/session-nav.tsx'
import { addressOf, directoryRoute, type Route } from './routes.ts'
import { useSession } from './session.ts'

interface HeaderProps {
  readonly route: Route
  readonly searchField: RefObject<HTMLInputElement | null>
  onHelp(): void
  onSignOut(): void
}

export function Header({ route, searchField, onHelp, onSignOut }: HeaderProps) {
  const { libraries } = useSession()
  const library = 'library' in route ? route.library : ''
  return (
    <header class="top">
      <a class="brand" href={addressOf({ view: 'libraries' })}>
        <Logo />
        <span>Library</span>
      </a>
      {libraries.length > 1 && (
        <Choice
          class="library"
          label="Library"
          value={library}
          options={[['', 'All libraries'], ...libraries.map(({ id, name }) => [id, name] as const)]}
          onChange={(value) => {
            location.hash = addressOf(value === '' ? { view: 'libraries' } : directoryRoute(value, '/'))
          }}
        />
      )}
      <SearchForm route={route} library={library} searchField={searchField} />
      <SessionNav onHelp={onHelp} onSignOut={onSignOut} />
    </header>
  )
}

type SearchFormProps = Pick<HeaderProps, 'route' | 'searchField'> & { readonly library: string }

function SearchForm({ route, library, searchField }: SearchFormProps) {
  const asked = route.view === 'search' ? route.query : ''
  const [text, setText] = useState(asked)
  useLayoutEffect(() => setText(asked), [asked])
  const search = (event: Event) => {
    event.preventDefault()
    if (text.trim() === '') return
    location.hash = addressOf({ view: 'search', query: text.trim(), library, directory: '', kind: '', versions: '' })
  }
  const useKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && text !== '') setText('')
    else if (event.key === 'Escape') searchField.current?.blur()
    else if (event.key === 'ArrowDown') focusFirstItem()
    else return
    event.preventDefault()
  }
  return (
    <search>
      <form class="search-field" onSubmit={search}>
        <input
          ref={searchField}
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
