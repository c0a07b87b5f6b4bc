import { join } from 'node:path'
import type { ResourceRecord, SearchResponse } from '../contract/records.ts'
import { RequestError } from '../foundation/errors.ts'
import { counted } from '../foundation/text/safe-text.ts'
import type { SearchRequest, ServiceClient } from '../remote/service-client.ts'
import { decideHit, type HitFacts, isShown, type SearchFilter, sortHits, versionOf } from '../rules/search-filter.ts'
import type { StoreReader } from '../store/open-store.ts'
import type { MirrorPath, SentResource } from '../store/tables/sent-resources.ts'

/** How many results are requested: `first` with excerpts; `most` without, which keeps the answer small. Services may return fewer. */
const CANDIDATES = { first: 100, most: 1_000 }

export interface FilteredHit {
  readonly title: string
  readonly resource: ResourceRecord
  readonly facts: HitFacts
}

export interface FilteredSearch {
  readonly notice: string
  /** In the requested order. */
  readonly hits: readonly FilteredHit[]
  /** How many results of the service were filtered. */
  readonly candidates: number
  /**
   * Whether the candidates are all results of the search, by the service answering fewer than requested; if not, further results may pass
   * the filter. The interface sets no least limit, so a service that never answers more than 50, say, also seems complete with 50.
   */
  readonly isComplete: boolean
  /** How many candidates are left out because a fact that the filter needs is unknown. */
  readonly undecided: number
  /** How many candidates are left out because they are older versions, or their files are gone. */
  readonly outdated: number
}

/** Returns what the store has about each resource; undefined for a resource that no mirror sent. */
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
 * Searches the service, then filters and sorts the hits by facts of the store and the service. The service is asked for all versions,
 * because the store knows best which of them are current. If too few are, it is also asked for current versions only. Hits after the
 * best hundred have no excerpts.
 */
export async function searchFiltered(
  request: Omit<SearchRequest, 'limit'>,
  { client, filter, wanted, findSent, signal }: FilterInput,
): Promise<FilteredSearch> {
  const { order, place, isType, sinceMs, beforeMs, versions } = filter
  const search = (limit: number, more?: Partial<SearchRequest>) =>
    client.searchResources({ ...request, limit, ...more }, signal)
  const searchAndFilter = async (limit: number) => {
    const response = await search(limit)
    const found = await filterHits(response, filter, findSent)
    const isComplete = response.results.length < limit
    return { response, found, isComplete, isEnough: order === 'relevance' && found.hits.length >= wanted }
  }
  const isPlain = order === 'relevance' && [place, isType, sinceMs, beforeMs].every((each) => each === null)
  // Without filters most results are shown, so as many as are wanted usually suffice.
  let best = await searchAndFilter(isPlain ? Math.min(wanted, CANDIDATES.first) : CANDIDATES.first)
  const isShort = () => !best.isComplete && !best.isEnough
  if (isShort() && isPlain && wanted < CANDIDATES.first) best = await searchAndFilter(CANDIDATES.first)
  const { response, found } = best
  if (!isShort()) return { ...found, isComplete: best.isComplete }
  const hasVersions = response.results.some(({ resource }) => resource.superseded_by !== undefined)
  const current =
    versions === 'current' && found.outdated > 0 && hasVersions
      ? await search(CANDIDATES.first, { versions: 'current' })
      : undefined
  const longer = await searchForMost(search)
  // Some services silently return fewer results than requested.
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
  const unmerged = new Map(detailed.map((result) => [result.resource.id, result]))
  const merged = all.map((result) => {
    const replacement = unmerged.get(result.resource.id)
    unmerged.delete(result.resource.id)
    return replacement ?? result
  })
  return [...merged, ...unmerged.values()]
}

/** Returns undefined if the service refuses so high a limit. */
async function searchForMost(
  search: (limit: number, more: Partial<SearchRequest>) => Promise<SearchResponse>,
): Promise<SearchResponse | undefined> {
  try {
    return await search(CANDIDATES.most, { outputFormat: 'compact' })
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

/** Returns a function that looks up resources of one service in the store. With `place`, only files at or below that path count. */
export function sentFinder(
  store: Pick<StoreReader, 'sentResources'> | undefined,
  origin: string,
  place: MirrorPath | null = null,
): (resourceIds: readonly string[]) => (SentResource | undefined)[] {
  return (resourceIds) => resourceIds.map((id) => store?.sentResources.find(origin, id, place))
}

/** Returns a sentence about contents that searches may not find yet; empty if there are none. */
export function describeProcessing(contents: number): string[] {
  const [what, it] = contents === 1 ? ['1 document', 'it'] : [counted(contents, 'document'), 'them']
  if (contents === 0) return []
  return [`When last asked, the service was still processing ${what}: a search may not find ${it} yet`]
}

/** Also reads `mime_type`, `size` and `created_at`, which the interface does not name but some services send. */
function factsOf(resource: ResourceRecord, sent: SentResource | undefined): HitFacts {
  const { mime_type: mime, size, created_at: createdAt, paths, superseded_by: supersededBy } = resource
  const files = sent?.files ?? []
  const addedMs = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN
  const stored = sent && {
    hasFile: files.length > 0,
    endedBy: sent.last?.reason ?? null,
    isNewestFound: sent.last?.isNewestFound ?? false,
  }
  return {
    mime: sent?.mime ?? (typeof mime === 'string' ? mime : null),
    sizeBytes: sent?.size ?? (typeof size === 'number' ? size : null),
    dateMs: files[0]?.changedAt ?? (Number.isNaN(addedMs) ? (sent?.uploadedAt ?? null) : addedMs),
    version: versionOf(stored, supersededBy),
    files: files.map(absolutePath),
    formerFile: formerFileOf(sent),
    earlier: earlierOf(resource, sent),
    libraryPaths: paths ?? null,
  }
}

const absolutePath = ({ root, path }: { readonly root: string; readonly path: string }) => join(root, path)

function formerFileOf(sent: SentResource | undefined): string | null {
  if (sent?.last) return absolutePath(sent.last)
  return sent?.sentFrom && sent.files.length > 0 ? absolutePath(sent.sentFrom) : null
}

function earlierOf({ earlier_versions: earlier }: ResourceRecord, sent: SentResource | undefined): HitFacts['earlier'] {
  if (sent) return sent.earlier && { count: sent.earlier.count, newestMs: sent.earlier.endedAt }
  return earlier ? { count: earlier.count, newestMs: Date.parse(earlier.newest_created_at) } : null
}
