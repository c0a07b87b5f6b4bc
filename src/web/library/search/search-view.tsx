import type { SearchAnswer } from '../../../contract/records.ts'
import { counted } from '../../common/format.ts'
import { List } from '../../common/ui/list.tsx'
import { Failure, Loading, Notice } from '../../common/ui/notice.tsx'
import { ViewHeading } from '../../common/ui/view-heading.tsx'
import { useKeys } from '../../common/use-keys.ts'
import { useLoaded } from '../../common/use-loaded.ts'
import { addressOf, directoryRoute, type SearchRoute } from '../routes.ts'
import { useSession } from '../session/session.ts'
import type { ViewProps } from '../view-props.ts'
import { liesBelow } from './directories-of-hits.ts'
import { Filters } from './filters.tsx'
import { Hit } from './hit.tsx'

/** The most that the service gives at a time. */
const LIMIT = 100

/** What a search has found. */
export function SearchView({ route, cameFrom, takesFocus }: ViewProps & { readonly route: SearchRoute }) {
  const { api } = useSession()
  const { query, library } = route
  const found = useLoaded(`${library} ${query}`, async (signal) => {
    if (query === '') return { notice: '', results: [] }
    return await api.search({ query, library: library || undefined, limit: LIMIT }, signal)
  })
  useKeys({
    Escape: () => {
      location.hash = addressOf(library === '' ? { view: 'libraries' } : directoryRoute(library, '/'))
    },
  })
  return (
    <section class="search">
      <ViewHeading title={`Search: ${query}`} takesFocus={takesFocus}>
        <span class="quiet">Search for</span> {query}
      </ViewHeading>
      {found.error !== undefined && <Failure error={found.error} onRetry={found.retry} />}
      {!found.value && found.error === undefined && <Loading what="the hits" />}
      {found.value && <Hits route={route} answer={found.value} cameFrom={cameFrom} />}
    </section>
  )
}

interface HitsProps {
  readonly route: SearchRoute
  readonly answer: SearchAnswer
  readonly cameFrom: string
}

function Hits({ route, answer, cameFrom }: HitsProps) {
  const hits = answer.results.map(({ resource }) => resource)
  const shown = hits.filter((hit) => liesBelow(hit, route.directory))
  return (
    <>
      <Filters route={route} hits={hits} />
      <p class="count" role="status">
        {inWords(hits.length, shown.length, route.directory)}
      </p>
      {answer.notice !== '' && <p class="quiet service-notice">{answer.notice}</p>}
      {hits.length === 0 && (
        <Notice tone="plain">
          Nothing has these words. A file that was just uploaded is found once it has been read; fewer or other words
          may find more.
        </Notice>
      )}
      <List label="Hits" cameFrom={cameFrom}>
        {shown.map((hit) => (
          <Hit key={hit.id} hit={hit} inAllLibraries={route.library === ''} />
        ))}
      </List>
    </>
  )
}

function inWords(found: number, shown: number, directory: string): string {
  const all = found === LIMIT ? `The best ${LIMIT} documents` : counted(found, 'document')
  return directory === '' ? all : `${shown} of ${found === LIMIT ? `the best ${LIMIT}` : counted(found, 'document')}`
}
