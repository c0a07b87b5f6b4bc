import { useState } from 'preact/hooks'
import type { ResourceRecord, SearchResponse } from '../../contract/records.ts'
import { addressOf, type ViewProps } from '../common/address.ts'
import { counted, formatTime } from '../common/format.ts'
import { directoriesOfHits, Excerpts, foundWords, kindsOfHits, passesFilter } from '../common/hits.tsx'
import { describeFile, describeState } from '../common/labels.ts'
import { List } from '../common/list.tsx'
import { Choice, Notice, useKeys, useLoaded, ViewHeading, WhenLoaded } from '../common/view.tsx'
import { directoryAddress, documentAddress, LIBRARIES_ADDRESS } from './addresses.ts'
import { Medium } from './document/original.tsx'
import { Passage } from './document/texts.tsx'
import { useSession } from './session.ts'

/** The most hits that the service returns at a time. */
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
  const shown = hits.filter((hit) => passesFilter(hit, asked))
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

/** Shows a document with the passages that matched; its title links to the best passage. */
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

function Filters({ asked, hits }: { asked: ViewProps['query']; hits: readonly ResourceRecord[] }) {
  const { libraries } = useSession()
  const go = (key: string, value: string) => {
    const cleared = key === 'library' && { directory: '', kind: '' }
    location.hash = addressOf('search', { ...asked, ...cleared, [key]: value })
  }
  const libraryOptions = libraries.length > 1 ? libraries.map(({ id, name }) => [id, name] as const) : []
  const all = [
    ['In', 'all libraries', 'library', libraryOptions],
    ['Below', 'any directory', 'directory', withCounts(directoriesOfHits(hits))],
    ['Type', 'any type', 'kind', withCounts(kindsOfHits(hits))],
  ] as const
  const filters = all.filter(([, , key, options]) => options.length > 0 || (key !== 'library' && asked[key]))
  return (
    <div class="filters">
      {filters.map(([label, any, key, options]) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: its select is in Choice
        <label key={key} class="quiet">
          <span>{label}</span>
          <Choice value={asked[key] ?? ''} options={[['', any], ...options]} onChange={(value) => go(key, value)} />
        </label>
      ))}
      <label class="quiet">
        <input
          type="checkbox"
          checked={asked.versions === 'all'}
          onChange={({ currentTarget: { checked } }) => go('versions', checked ? 'all' : '')}
        />
        <span>All versions</span>
      </label>
    </div>
  )
}

function withCounts(counts: readonly (readonly [name: string, hits: number])[]) {
  return counts.map(([name, count]) => [name, `${name} (${count})`] as const)
}

const MAX_PREVIEWED_PASSAGES = 2

interface PreviewProps {
  readonly library: string
  readonly resource: string
  readonly title: string
  /** The position of the first passage. */
  readonly position: number
  readonly words: readonly string[]
}

function Preview({ library, resource, title, position, words }: PreviewProps) {
  const { api } = useSession()
  const found = useLoaded(`${resource} ${position}`, (signal) => api.showResource(library, resource, position, signal))
  const passages = (found.value?.assets ?? [])
    .filter(({ text }) => typeof text === 'string')
    .slice(0, MAX_PREVIEWED_PASSAGES)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section id={`preview-${resource}`} class="preview original" aria-label={`Preview of ${title}`} tabIndex={0}>
      <h2 class="quiet">Preview</h2>
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
