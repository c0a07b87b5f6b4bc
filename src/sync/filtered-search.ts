import { join } from 'node:path'
import type { ResourceRecord, SearchResponse } from '../contract/records.ts'
import { RequestError } from '../foundation/errors.ts'
import type { SearchRequest, ServiceClient } from '../remote/service-client.ts'
import { decideHit, type HitFacts, isShown, type SearchFilter, sortHits, versionOf } from '../rules/search-filter.ts'
import type { StoreReader } from '../store/open-store.ts'
import type { MirrorPlace, SentResource } from '../store/tables/sent-resources.ts'

/** Services may limit the first number. The second is only tried in the form without excerpts, which keeps the answer small. */
const CANDIDATES = { first: 100, most: 1_000 }

export interface FilteredHit {
  readonly title: string
  readonly resource: ResourceRecord
  readonly facts: HitFacts
}

export interface FilteredSearch {
  readonly notice: string
  /** In the order asked for. */
  readonly hits: readonly FilteredHit[]
  /** The number of results that were looked at. */
  readonly candidates: number
  /** Whether these were all that the search found; otherwise further ones may pass. */
  readonly isComplete: boolean
  /** Candidates that are left out because what the filter asks for is unknown. */
  readonly undecided: number
  /** Candidates that are left out because no file has them any more. */
  readonly outdated: number
}

/** Returns what the store has of each resource; undefined for what no mirror sent. */
export type FindSent = (
  resourceIds: readonly string[],
) => readonly (SentResource | undefined)[] | Promise<readonly (SentResource | undefined)[]>

interface FilterInput {
  readonly client: Pick<ServiceClient, 'searchResources'>
  readonly filter: SearchFilter
  readonly wanted: number
  readonly findSent: FindSent
  readonly signal: AbortSignal
}

/**
 * Searches the service, and filters and sorts its hits by what the store and the service say of each hit. By default it shows present
 * versions only: the store knows them best, so the service is asked for all versions, and for its present ones where these leave too
 * few. Hits after the best hundred have no excerpts.
 */
export async function searchFiltered(
  request: Omit<SearchRequest, 'limit'>,
  { client, filter, wanted, findSent, signal }: FilterInput,
): Promise<FilteredSearch> {
  const { order, place, isType, sinceMs, beforeMs, versions } = filter
  const ask = (limit: number, more?: Partial<SearchRequest>) =>
    client.searchResources({ ...request, limit, ...more }, signal)
  const look = async (limit: number) => {
    const response = await ask(limit)
    const found = await filterHits(response, filter, findSent)
    const isComplete = response.results.length < limit
    return { response, found, isComplete, isEnough: order === 'relevance' && found.hits.length >= wanted }
  }
  const isPlain = order === 'relevance' && [place, isType, sinceMs, beforeMs].every((each) => each === null)
  // Without filters, the hits that are shown are mostly enough.
  let best = await look(isPlain ? Math.min(wanted, CANDIDATES.first) : CANDIDATES.first)
  const isShort = () => !best.isComplete && !best.isEnough
  if (isShort() && isPlain && wanted < CANDIDATES.first) best = await look(CANDIDATES.first)
  const { response, found } = best
  if (!isShort()) return { ...found, isComplete: best.isComplete }
  const knowsVersions = response.results.some(({ resource }) => resource.superseded_by !== undefined)
  const current =
    versions === 'current' && found.outdated > 0 && knowsVersions
      ? await ask(CANDIDATES.first, { versions: 'current' })
      : undefined
  const longer = await listMore(ask)
  // Some services silently list fewer than they are asked for.
  const isLonger = longer !== undefined && longer.results.length > response.results.length
  const results = mergeResults(isLonger ? longer.results : response.results, [
    ...response.results,
    ...(current?.results ?? []),
  ])
  const isComplete =
    (isLonger && longer.results.length < CANDIDATES.most) ||
    (current !== undefined && current.results.length < CANDIDATES.first)
  return { ...(await filterHits({ notice: response.notice, results }, filter, findSent)), isComplete }
}

type Results = SearchResponse['results']

/** Keeps the order of `all`, replaces its results by those in `detailed`, and appends the others of `detailed`. */
function mergeResults(all: Results, detailed: Results): Results {
  const rest = new Map(detailed.map((result) => [result.resource.id, result]))
  const merged = all.map((result) => {
    const known = rest.get(result.resource.id)
    rest.delete(result.resource.id)
    return known ?? result
  })
  return [...merged, ...rest.values()]
}

/** Undefined when the service refuses so high a limit. */
async function listMore(
  ask: (limit: number, more: Partial<SearchRequest>) => Promise<SearchResponse>,
): Promise<SearchResponse | undefined> {
  try {
    return await ask(CANDIDATES.most, { outputFormat: 'compact' })
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}

async function filterHits(
  { notice, results }: SearchResponse,
  filter: SearchFilter,
  findSent: FindSent,
): Promise<Omit<FilteredSearch, 'isComplete'>> {
  const sent = await findSent(results.map(({ resource }) => resource.id))
  const hits = results.map(({ resource }, index): FilteredHit => {
    return { resource, title: resource.title ?? resource.id, facts: factsOf(resource, sent[index]) }
  })
  const shown = hits.filter(({ facts }) => isShown(facts.version, filter.versions))
  const decided = Map.groupBy(shown, ({ facts }) => decideHit(filter, facts))
  return {
    notice,
    hits: sortHits(decided.get('passed') ?? [], filter.order),
    candidates: hits.length,
    undecided: decided.get('undecided')?.length ?? 0,
    outdated: hits.length - shown.length,
  }
}

/** Returns what the store has of each resource of a service; `place`: only files that lie there count. */
export function sentFinder(
  store: Pick<StoreReader, 'sentResources'> | undefined,
  origin: string,
  place: MirrorPlace | null = null,
): (resourceIds: readonly string[]) => (SentResource | undefined)[] {
  return (resourceIds) => resourceIds.map((id) => store?.sentResources.find(origin, id, place))
}

/** Services may say type, size and time of a resource by these fields, which the interface does not name. */
function factsOf(resource: ResourceRecord, sent: SentResource | undefined): HitFacts {
  const { mime_type: mime, size, created_at: createdAt, paths, superseded_by: supersededBy } = resource
  const files = sent?.files ?? []
  const addedMs = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN
  const known = sent && {
    hasFile: files.length > 0,
    endedBy: sent.last?.reason ?? null,
    isNewestFound: sent.last?.isNewestFound ?? false,
  }
  return {
    mime: sent?.mime ?? (typeof mime === 'string' ? mime : null),
    sizeBytes: sent?.size ?? (typeof size === 'number' ? size : null),
    dateMs: files[0]?.changedAt ?? (Number.isNaN(addedMs) ? (sent?.uploadedAt ?? null) : addedMs),
    version: versionOf(known, supersededBy),
    files: files.map(absolute),
    formerFile: formerFileOf(sent),
    earlier: earlierOf(resource, sent),
    libraryPaths: paths ?? null,
  }
}

const absolute = ({ root, path }: { readonly root: string; readonly path: string }) => join(root, path)

function formerFileOf(sent: SentResource | undefined): string | null {
  if (sent?.last) return absolute(sent.last)
  const from = sent?.sentFrom
  if (!from || sent.files.some(({ root, path }) => root === from.root && path === from.path)) return null
  return sent.files.length === 0 ? null : absolute(from)
}

function earlierOf({ earlier_versions: said }: ResourceRecord, sent: SentResource | undefined): HitFacts['earlier'] {
  if (sent) return sent.earlier && { count: sent.earlier.count, newestMs: sent.earlier.endedAt }
  return said ? { count: said.count, newestMs: Date.parse(said.newest_created_at) } : null
}
