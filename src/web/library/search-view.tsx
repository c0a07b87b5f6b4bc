import { useState } from 'preact/hooks'
import type { ResourceRecord, SearchResponse } from '../../contract/records.ts'
import { addressOf, type ViewProps } from '../common/address.ts'
import { Excerpts, foundWords } from '../common/excerpt.tsx'
import { counted, formatTime } from '../common/format.ts'
import { directoriesOfHits, isFiltered, kindsOfHits } from '../common/hit-filters.ts'
import { describeFile, describeState } from '../common/labels.ts'
import { List } from '../common/list.tsx'
import { useKeys } from '../common/use-keys.ts'
import { Notice, useLoaded, ViewHeading, WhenLoaded } from '../common/view.tsx'
import { directoryAddress, documentAddress, LIBRARIES_ADDRESS } from './addresses.ts'
import { Medium } from './document/original.tsx'
import { Passage } from './document/texts.tsx'
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
      {response.notice !== '' && <p class="quiet">{response.notice}</p>}
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

interface FiltersProps {
  readonly asked: ViewProps['query']
  readonly hits: readonly ResourceRecord[]
}

function Filters({ asked, hits }: FiltersProps) {
  const { libraries } = useSession()
  const go = (changed: ViewProps['query']) => {
    location.hash = addressOf('search', { ...asked, ...changed })
  }
  return (
    <div class="filters">
      {libraries.length > 1 && (
        <label>
          <span>In</span>
          <select
            value={asked.library ?? ''}
            onChange={({ currentTarget: { value } }) => go({ library: value, directory: '', kind: '' })}
          >
            <option value="">all libraries</option>
            {libraries.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <HitFilter
        label="Below"
        any="any directory"
        value={asked.directory ?? ''}
        counts={directoriesOfHits(hits)}
        onChange={(directory) => go({ directory })}
      />
      <HitFilter
        label="Type"
        any="any type"
        value={asked.kind ?? ''}
        counts={kindsOfHits(hits)}
        onChange={(kind) => go({ kind })}
      />
      <label>
        <input
          type="checkbox"
          checked={asked.versions === 'all'}
          onChange={({ currentTarget: { checked } }) => go({ versions: checked ? 'all' : '' })}
        />
        <span>All versions</span>
      </label>
    </div>
  )
}

interface HitFilterProps {
  readonly label: string
  readonly any: string
  /** An empty text means any. */
  readonly value: string
  readonly counts: readonly (readonly [name: string, hits: number])[]
  onChange(value: string): void
}

function HitFilter({ label, any, value, counts, onChange }: HitFilterProps) {
  if (counts.length === 0 && value === '') return null
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{any}</option>
        {counts.map(([name, count]) => (
          <option key={name} value={name}>
            {name} ({count})
          </option>
        ))}
      </select>
    </label>
  )
}

const PASSAGES = 2

interface PreviewProps {
  readonly library: string
  readonly resource: string
  readonly title: string
  /** Of the first passage. */
  readonly position: number
  readonly words: readonly string[]
}

function Preview({ library, resource, title, position, words }: PreviewProps) {
  const { api } = useSession()
  const found = useLoaded(`${resource} ${position}`, (signal) => api.showResource(library, resource, position, signal))
  const passages = (found.value?.assets ?? []).filter(({ text }) => typeof text === 'string').slice(0, PASSAGES)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section id={`preview-${resource}`} class="preview original" aria-label={`Preview of ${title}`} tabIndex={0}>
      <h2>Preview</h2>
      <WhenLoaded what="the preview" found={found}>
        {(value) => (
          <>
            <p class="quiet">{describeFile(value)}</p>
            <Medium shown={value} />
            {passages.map((asset) => (
              <Passage key={asset.id} asset={asset} words={words} isAskedFor={false} />
            ))}
            {passages.length === 0 && <p class="quiet">It has no text.</p>}
          </>
        )}
      </WhenLoaded>
    </section>
  )
}
