import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Address, addressOf } from '../common/address.ts'
import { focusFirstItem } from '../common/list.tsx'
import { Choice, useKeys } from '../common/view.tsx'
import { directoryAddress, LIBRARIES_ADDRESS } from './addresses.ts'
import { useSession } from './session.ts'

export function Header({ view, names, query }: Address) {
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
