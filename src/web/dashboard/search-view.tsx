import { useLayoutEffect, useState } from 'preact/hooks'
import type { CallResponse } from '../../contract/dashboard.ts'
import { KIND_NAMES, kindOf } from '../../contract/kinds.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { addressOf, type ViewProps } from '../common/address.ts'
import { counted, formatNumber, formatTime } from '../common/format.ts'
import { directoriesOfHits, Excerpts } from '../common/hits.tsx'
import { ActionButton, Choice, Loading, Notice, useLoaded, ViewHeading, WhenLoaded } from '../common/view.tsx'
import { useSession } from './session.ts'

export function SearchView({ query, takesFocus }: ViewProps) {
  const { client, live } = useSession()
  const { words = '', library = '', type = '', directory = '', versions = '' } = query
  const asked: Asked = { words, library, type, directory, versions }
  const found = useLoaded(JSON.stringify(asked), async (signal) => {
    if (words === '') return undefined
    return await client.call(
      'search',
      { query: words, library, type, directory, allVersions: versions === 'all' },
      signal,
    )
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
      {words !== '' && (
        <WhenLoaded what="the hits" found={found}>
          {(answer) => (
            <>
              {found.isLoading && <Loading what="the hits" />}
              <p class="count" role="status">
                {describeCount(answer)}
              </p>
              {answer.notice !== '' && <p class="quiet">{answer.notice}</p>}
              {answer.results.length === 0 && (
                <Notice tone="plain">
                  Nothing {type === '' && directory === '' ? '' : 'there '}has these words. A file that was just sent is
                  found once it has been read.
                </Notice>
              )}
              <ul class="list" aria-label="Hits">
                {answer.results.map((hit) => (
                  <Hit key={hit.resource.id} hit={hit} />
                ))}
              </ul>
            </>
          )}
        </WhenLoaded>
      )}
    </section>
  )
}

/** What the address says of the search. An empty `library`, `type` or `directory` means any. */
interface Asked {
  readonly words: string
  readonly library: string
  readonly type: string
  readonly directory: string
  /** `all` also finds earlier versions and documents without a file; an empty text does not. */
  readonly versions: string
}

type Found = CallResponse<'search'>

/** Returns `2 documents`, `the best 50 of 73 documents` or `2 documents, among the best 100 that the service lists`. */
function describeCount({ results, total, candidates, isComplete, undecided, outdated }: Found): string {
  const shown = total > results.length ? `the best ${results.length} of ` : ''
  const examined = isComplete ? '' : `, among the best ${formatNumber(candidates)} that the service lists`
  const unknown = undecided === 0 ? '' : `; ${formatNumber(undecided)} of unknown type or directory left out`
  const old = outdated === 0 ? '' : `; ${formatNumber(outdated)} without a file here left out`
  return `${shown}${counted(total, 'document')}${examined}${unknown}${old}`
}

interface SearchFormProps {
  readonly asked: Asked
  readonly libraries: readonly (readonly [id: string, name: string])[]
  readonly directories: ReturnType<typeof directoriesOfHits>
}

function SearchForm({ asked, libraries, directories }: SearchFormProps) {
  const { words, library, type, directory, versions } = asked
  const [typed, setTyped] = useState(words)
  // Runs before the user can type.
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
        <Choice
          label="Versions"
          value={versions}
          options={[
            ['', 'Present versions'],
            ['all', 'All versions'],
          ]}
          onChange={(value) => go({ versions: value })}
        />
        <button type="submit" class="main">
          Search
        </button>
      </form>
    </search>
  )
}

const VERSIONS: Readonly<Record<Found['results'][number]['version'], (file: string) => string>> = {
  current: (file) => (file === '' ? '' : `Moved from ${file}`),
  waiting: (file) => `${file} has changed, and its present text cannot be found yet`,
  earlier: (file) => (file === '' ? 'An earlier version' : `An earlier version of ${file}`),
  gone: (file) => `Its file is gone: ${file}`,
  'left-out': (file) => `Its file is left out now: ${file}`,
}

function Hit({ hit }: { readonly hit: Found['results'][number] }) {
  const { client } = useSession()
  const { id, title = id, assets = [], paths = [] } = hit.resource
  const { file, formerFile, version, earlier } = hit
  const [copied, setCopied] = useState('')
  const openFile = async (folder: boolean) => {
    const { isOpened, path } = await client.call('openFile', { resourceId: id, folder })
    if (!isOpened) setCopied(path)
  }
  const state = VERSIONS[version](formerFile ?? '')
  const facts = [
    kindOf(hit.mime ?? ''),
    hit.size === null ? undefined : formatSize(hit.size),
    hit.date === null ? undefined : formatTime(hit.date),
    paths[0],
  ]
  return (
    <li class="hit">
      <p class="item">{title}</p>
      {file !== null && <p class="path">{file}</p>}
      <p class="quiet path">{facts.filter((each) => each !== undefined).join(' · ')}</p>
      {state !== '' && <p class={version === 'current' ? 'quiet path' : 'state warning'}>{state}</p>}
      <Excerpts assets={assets} />
      {earlier && (
        <p class="quiet">
          {counted(earlier.count, 'earlier version')}, newest {formatTime(earlier.newest)}
        </p>
      )}
      <div class="actions">
        {file !== null && <ActionButton label="Open the file" of={title} run={() => openFile(false)} />}
        {file !== null && <ActionButton label="Open its folder" of={title} run={() => openFile(true)} />}
        <ActionButton label="Show what was sent" of={title} run={() => client.openDocument(id)} />
      </div>
      {copied !== '' && (
        <p role="status">
          This computer has no desktop on which shelfd could open it: <code>{copied}</code>{' '}
          <button type="button" class="link" onClick={() => navigator.clipboard.writeText(copied)}>
            Copy the path
          </button>
        </p>
      )}
    </li>
  )
}
