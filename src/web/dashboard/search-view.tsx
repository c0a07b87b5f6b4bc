import { useState } from 'preact/hooks'
import type { ResourceRecord } from '../../contract/records.ts'
import { Choice } from '../common/choice.tsx'
import { Excerpts } from '../common/excerpt.tsx'
import { counted } from '../common/format.ts'
import { kindOf } from '../common/labels.ts'
import { Failure, Loading, Notice } from '../common/notice.tsx'
import { useLoaded } from '../common/use-loaded.ts'
import { ViewHeading } from '../common/view-heading.tsx'
import { ActionButton, openDocument } from './action-button.tsx'
import { addressOf, type ViewProps } from './routes.ts'
import { useSession } from './session.ts'

/** Looks for words in the libraries of the mirrors. */
export function SearchView({ query, takesFocus }: ViewProps) {
  const { client, live } = useSession()
  const { words = '', library = '' } = query
  const found = useLoaded(JSON.stringify([words, library]), async (signal) => {
    if (words === '') return undefined
    return await client.call('search', { query: words, library }, signal)
  })
  const libraries = new Map(
    live.overview?.mirrors.flatMap((mirror) =>
      mirror.library ? [[mirror.library.id, mirror.library.name] as const] : [],
    ),
  )
  return (
    <section>
      <ViewHeading title="Search" takesFocus={takesFocus} />
      <SearchForm words={words} library={library} libraries={[...libraries]} />
      {words !== '' && found.error !== undefined && <Failure error={found.error} onRetry={found.retry} />}
      {words !== '' && found.isLoading && <Loading what="the hits" />}
      {words !== '' && found.value && (
        <>
          <p class="count" role="status">
            {counted(found.value.results.length, 'document')}
          </p>
          {found.value.notice !== '' && <p class="quiet">{found.value.notice}</p>}
          {found.value.results.length === 0 && (
            <Notice tone="plain">
              Nothing has these words. A file that was just sent is found once it has been read.
            </Notice>
          )}
          <ul class="list" aria-label="Hits">
            {found.value.results.map(({ resource }) => (
              <Hit key={resource.id} hit={resource} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

interface SearchFormProps {
  readonly words: string
  readonly library: string
  readonly libraries: readonly (readonly [id: string, name: string])[]
}

function SearchForm({ words, library, libraries }: SearchFormProps) {
  const [typed, setTyped] = useState(words)
  const search = (event: Event) => {
    event.preventDefault()
    location.hash = addressOf('search', { words: typed.trim(), library })
  }
  return (
    <search>
      <form class="report-filters" onSubmit={search}>
        <input
          type="search"
          aria-label="Words"
          placeholder="Words"
          maxLength={1_000}
          value={typed}
          onInput={({ currentTarget: { value } }) => setTyped(value)}
        />
        {libraries.length > 1 && (
          <Choice
            label="Library"
            value={library}
            options={[['', 'All libraries'], ...libraries]}
            onChange={(value) => {
              location.hash = addressOf('search', { words, library: value })
            }}
          />
        )}
        <button type="submit" class="main">
          Search
        </button>
      </form>
    </search>
  )
}

/** A document with the passages that matched. */
function Hit({ hit }: { readonly hit: ResourceRecord }) {
  const { client } = useSession()
  const { id, title = id, assets = [], paths = [] } = hit
  return (
    <li class="hit">
      <p class="item">{title}</p>
      <p class="quiet path">
        {[paths[0], kindOf(String(hit.mime_type ?? ''))].filter((each) => each !== undefined).join(' · ')}
      </p>
      <Excerpts assets={assets} />
      <div class="actions">
        <ActionButton label="Open the document" of={title} run={() => openDocument(client, id)} />
      </div>
    </li>
  )
}
