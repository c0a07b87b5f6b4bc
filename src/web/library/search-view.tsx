import { useState } from 'preact/hooks'
import type { ResourceRecord, SearchResponse } from '../../contract/records.ts'
import type { ViewProps } from '../common/address.ts'
import { Excerpts, foundWords } from '../common/excerpt.tsx'
import { counted, formatTime } from '../common/format.ts'
import { isFiltered } from '../common/hit-filters.ts'
import { describeFile, describeState } from '../common/labels.ts'
import { List } from '../common/list.tsx'
import { useLoaded, WhenLoaded } from '../common/loaded.tsx'
import { Notice } from '../common/notice.tsx'
import { useKeys } from '../common/use-keys.ts'
import { ViewHeading } from '../common/view-heading.tsx'
import { directoryAddress, documentAddress, LIBRARIES_ADDRESS } from './addresses.ts'
import { Filters } from './filters.tsx'
import { Preview } from './preview.tsx'
import { useSession } from './session.ts'

/** The most that the service gives at a time. */
const LIMIT = 100

export function SearchView({ query: asked, cameFrom, takesFocus }: ViewProps) {
  const { api } = useSession()
  const { query = '', library = '' } = asked
  const versions = asked.versions === 'all' ? 'all' : 'current'
  const found = useLoaded(`${library} ${versions} ${query}`, async (signal) => {
    if (query === '') return { notice: '', results: [] }
    return await api.search({ query, library: library || undefined, limit: LIMIT, versions }, signal)
  })
  useKeys({
    Escape: () => {
      location.hash = library === '' ? LIBRARIES_ADDRESS : directoryAddress(library, '/')
    },
  })
  return (
    <section class="search">
      <ViewHeading title={`Search: ${query}`} takesFocus={takesFocus}>
        <span class="quiet">Search for</span> {query}
      </ViewHeading>
      <WhenLoaded what="the hits" found={found}>
        {(response) => <Hits asked={asked} response={response} cameFrom={cameFrom} />}
      </WhenLoaded>
    </section>
  )
}

interface HitsProps {
  readonly asked: ViewProps['query']
  readonly response: SearchResponse
  readonly cameFrom: string
}

function Hits({ asked, response, cameFrom }: HitsProps) {
  const hits = response.results.map(({ resource }) => resource)
  const shown = hits.filter((hit) => isFiltered(hit, asked))
  return (
    <>
      <Filters asked={asked} hits={hits} />
      <p class="count" role="status">
        {describeCount(hits.length, shown.length, asked)}
      </p>
      {response.notice !== '' && <p class="quiet service-notice">{response.notice}</p>}
      {hits.length === 0 && (
        <Notice tone="plain">
          Nothing has these words. A file that was just uploaded is found once it has been read; fewer or other words
          may find more.
        </Notice>
      )}
      <List label="Hits" cameFrom={cameFrom}>
        {shown.map((hit) => (
          <Hit key={hit.id} hit={hit} inAllLibraries={!asked.library} />
        ))}
      </List>
    </>
  )
}

function describeCount(found: number, shown: number, { directory, kind }: ViewProps['query']): string {
  const all = found === LIMIT ? `The best ${LIMIT} documents` : counted(found, 'document')
  return !directory && !kind ? all : `${shown} of ${found === LIMIT ? `the best ${LIMIT}` : counted(found, 'document')}`
}

/** A document with the passages that matched; its name leads to the best of them. */
function Hit({ hit, inAllLibraries }: { readonly hit: ResourceRecord; readonly inAllLibraries: boolean }) {
  const { id, title = id, assets = [], paths = [], earlier_versions: earlier } = hit
  const library = libraryOf(hit)
  const [best] = assets
  const [isPreviewed, setIsPreviewed] = useState(false)
  const { tone, state } = describeState(hit)
  const place = [inAllLibraries ? library.name : '', paths[0] ?? ''].filter((each) => each !== '').join(' ')
  const position = typeof best?.position === 'number' ? best.position : undefined
  const words = foundWords(assets)
  const at = position === undefined ? '' : String(position)
  return (
    <li class={isPreviewed ? 'hit previewed' : 'hit'}>
      <div>
        <a class="item" href={documentAddress(library.id, id, { at, word: words })}>
          {title}
        </a>
        <p class="quiet">
          {place}
          {paths.length > 1 && ` and ${paths.length - 1} more`} · {describeFile(hit)}
          {tone !== 'good' && ` · ${state}`}
        </p>
        {hit.superseded_by && (
          <p class="state warning">
            An earlier version: <a href={documentAddress(library.id, hit.superseded_by)}>the present one</a>
          </p>
        )}
        <Excerpts assets={assets} />
        {earlier && (
          <p class="quiet">
            {counted(earlier.count, 'earlier version')}, newest {formatTime(earlier.newest_created_at)}
          </p>
        )}
        <button
          type="button"
          class="link"
          aria-expanded={isPreviewed}
          aria-controls={`preview-${id}`}
          aria-label={`Preview: ${title}`}
          onClick={() => setIsPreviewed(!isPreviewed)}
        >
          Preview
        </button>
      </div>
      {isPreviewed && (
        <Preview library={library.id} resource={id} title={title} position={position ?? 0} words={words} />
      )}
    </li>
  )
}

function libraryOf({ library }: ResourceRecord): { id: string; name: string } {
  const { id = '', name = '' } = (library ?? {}) as { id?: string; name?: string }
  return { id, name }
}
