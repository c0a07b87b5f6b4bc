import { useLayoutEffect, useState } from 'preact/hooks'
import type { CallResponse } from '../../contract/dashboard.ts'
import { KIND_NAMES, kindOf } from '../../contract/kinds.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { Choice } from '../common/choice.tsx'
import { Excerpts } from '../common/excerpt.tsx'
import { counted, formatNumber, formatTime } from '../common/format.ts'
import { directoriesOfHits } from '../common/hit-filters.ts'
import { Failure, Loading, Notice } from '../common/notice.tsx'
import { useLoaded } from '../common/use-loaded.ts'
import { ViewHeading } from '../common/view-heading.tsx'
import { ActionButton, openDocument } from './action-button.tsx'
import { addressOf, type ViewProps } from './routes.ts'
import { useSession } from './session.ts'

export function SearchView({ query, takesFocus }: ViewProps) {
  const { client, live } = useSession()
  const { words = '', library = '', type = '', directory = '' } = query
  const asked: Asked = { words, library, type, directory }
  const found = useLoaded(JSON.stringify(asked), async (signal) => {
    if (words === '') return undefined
    return await client.call('search', { query: words, library, type, directory }, signal)
  })
  const libraries = new Map(
    live.overview?.mirrors.flatMap((mirror) =>
      mirror.library ? [[mirror.library.id, mirror.library.name] as const] : [],
    ),
  )
  return (
    <section>
      <ViewHeading title="Search" takesFocus={takesFocus} />
      <SearchForm
        asked={asked}
        libraries={[...libraries]}
        directories={directoriesOfHits(found.value?.results.map(({ resource }) => resource) ?? [])}
      />
      {words !== '' && found.error !== undefined && <Failure error={found.error} onRetry={found.retry} />}
      {words !== '' && found.isLoading && <Loading what="the hits" />}
      {words !== '' && found.value && (
        <>
          <p class="count" role="status">
            {describeCount(found.value)}
          </p>
          {found.value.notice !== '' && <p class="quiet">{found.value.notice}</p>}
          {found.value.results.length === 0 && (
            <Notice tone="plain">
              Nothing {type === '' && directory === '' ? '' : 'there '}has these words. A file that was just sent is
              found once it has been read.
            </Notice>
          )}
          <ul class="list" aria-label="Hits">
            {found.value.results.map((hit) => (
              <Hit key={hit.resource.id} hit={hit} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** What is looked for; an empty text means any. */
interface Asked {
  readonly words: string
  readonly library: string
  readonly type: string
  readonly directory: string
}

type Found = CallResponse<'search'>

/** `2 documents`; `the best 50 of 73 documents`; `2 of the best 100 documents`, where only these were looked at. */
function describeCount({ results, total, candidates, isComplete, undecided }: Found): string {
  const shown = total > results.length ? `the best ${results.length} of ` : ''
  const looked = isComplete ? '' : `, among the best ${formatNumber(candidates)} that the service lists`
  const left = undecided === 0 ? '' : `; ${formatNumber(undecided)} of which nobody knows it are left out`
  return `${shown}${counted(total, 'document')}${looked}${left}`
}

interface SearchFormProps {
  readonly asked: Asked
  readonly libraries: readonly (readonly [id: string, name: string])[]
  readonly directories: ReturnType<typeof directoriesOfHits>
}

function SearchForm({ asked, libraries, directories }: SearchFormProps) {
  const { words, library, type, directory } = asked
  const [typed, setTyped] = useState(words)
  // Before anybody can type.
  useLayoutEffect(() => setTyped(words), [words])
  const go = (changed: Partial<Asked>) => {
    location.hash = addressOf('search', { ...asked, ...changed })
  }
  const search = (event: Event) => {
    event.preventDefault()
    go({ words: typed.trim() })
  }
  const paths = new Set([...(directory === '' ? [] : [directory]), ...directories.map(([path]) => path)])
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
            onChange={(value) => go({ library: value, directory: '' })}
          />
        )}
        <Choice
          label="Type"
          value={type}
          options={[['', 'All types'], ...KIND_NAMES.map((kind) => [kind, kind] as const)]}
          onChange={(value) => go({ type: value })}
        />
        {paths.size > 0 && (
          <Choice
            label="Directory"
            value={directory}
            options={[['', 'All directories'], ...[...paths].sort().map((path) => [path, path] as const)]}
            onChange={(value) => go({ directory: value })}
          />
        )}
        <button type="submit" class="main">
          Search
        </button>
      </form>
    </search>
  )
}

function Hit({ hit }: { readonly hit: Found['results'][number] }) {
  const { client } = useSession()
  const { id, title = id, assets = [], paths = [] } = hit.resource
  const facts = [
    paths[0],
    kindOf(hit.mime ?? ''),
    hit.size === null ? undefined : formatSize(hit.size),
    hit.date === null ? undefined : formatTime(hit.date),
  ]
  return (
    <li class="hit">
      <p class="item">{title}</p>
      <p class="quiet path">{facts.filter((each) => each !== undefined).join(' · ')}</p>
      <Excerpts assets={assets} />
      <div class="actions">
        <ActionButton label="Open the document" of={title} run={() => openDocument(client, id)} />
      </div>
    </li>
  )
}
