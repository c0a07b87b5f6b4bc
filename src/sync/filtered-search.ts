import { join } from 'node:path'
import type { ResourceRecord, SearchResponse } from '../contract/records.ts'
import { RequestError } from '../foundation/errors.ts'
import type { SearchRequest, ServiceClient } from '../remote/service-client.ts'
import { decideHit, type HitFacts, type SearchFilter, sortHits } from '../rules/search-filter.ts'
import type { StoreReader } from '../store/open-store.ts'
import type { MirrorPlace, ResourceFile } from '../store/tables/report-rows.ts'

/** Services may limit the first number. The second is only tried in the form without excerpts, which keeps the answer small. */
const CANDIDATES = { first: 100, most: 1_000 }

interface FilteredHit {
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
  /** Candidates that are left out because nobody says what the filter asks for. */
  readonly undecided: number
}

interface FilterInput {
  readonly client: Pick<ServiceClient, 'searchResources'>
  readonly filter: SearchFilter
  readonly wanted: number
  listFiles(resourceIds: readonly string[]): readonly ResourceFile[][] | Promise<readonly ResourceFile[][]>
  readonly signal: AbortSignal
}

/** Filters and sorts search results by what the store and the service know of each. Results after the best hundred have no excerpts. */
export async function searchFiltered(
  request: Omit<SearchRequest, 'limit'>,
  { client, filter, wanted, listFiles, signal }: FilterInput,
): Promise<FilteredSearch> {
  const best = await client.searchResources({ ...request, limit: CANDIDATES.first }, signal)
  const found = await filterHits(best, filter, listFiles)
  const isComplete = best.results.length < CANDIDATES.first
  if (isComplete || (filter.order === 'relevance' && found.hits.length >= wanted)) return { ...found, isComplete }
  const more = await listMore(client, request, signal)
  // Some services silently list fewer than they are asked for.
  if (more === undefined || more.results.length <= best.results.length) return { ...found, isComplete }
  const detailed = new Map(best.results.map((result) => [result.resource.id, result]))
  const results = more.results.map((result) => detailed.get(result.resource.id) ?? result)
  const all = await filterHits({ notice: best.notice, results }, filter, listFiles)
  return { ...all, isComplete: results.length < CANDIDATES.most }
}

/** Undefined when the service refuses so high a limit. */
async function listMore(
  client: FilterInput['client'],
  request: Omit<SearchRequest, 'limit'>,
  signal: AbortSignal,
): Promise<SearchResponse | undefined> {
  try {
    return await client.searchResources({ ...request, limit: CANDIDATES.most, outputFormat: 'compact' }, signal)
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}

async function filterHits(
  { notice, results }: SearchResponse,
  filter: SearchFilter,
  listFiles: FilterInput['listFiles'],
): Promise<Omit<FilteredSearch, 'isComplete'>> {
  const known = await listFiles(results.map(({ resource }) => resource.id))
  const hits = results.map(({ resource }, index): FilteredHit => {
    return { resource, title: resource.title ?? resource.id, facts: factsOf(resource, known[index] ?? []) }
  })
  const decided = Map.groupBy(hits, ({ facts }) => decideHit(filter, facts))
  return {
    notice,
    hits: sortHits(decided.get('passed') ?? [], filter.order),
    candidates: hits.length,
    undecided: decided.get('undecided')?.length ?? 0,
  }
}

/** `place`: only files that lie there. */
export function listFilesOf(
  store: Pick<StoreReader, 'report'> | undefined,
  origin: string,
  place: MirrorPlace | null,
): (resourceIds: readonly string[]) => ResourceFile[][] {
  return (resourceIds) => resourceIds.map((id) => store?.report.listResourceFiles(origin, id, place) ?? [])
}

/** Services may say type, size and time of a resource by these fields, which the interface does not name. */
function factsOf(resource: ResourceRecord, files: readonly ResourceFile[]): HitFacts {
  const { mime_type: mime, size, created_at: createdAt, paths } = resource
  const [first] = files
  const addedMs = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN
  return {
    mime: first?.mime ?? (typeof mime === 'string' ? mime : null),
    sizeBytes: first?.size ?? (typeof size === 'number' ? size : null),
    dateMs: first?.changedAt ?? (Number.isNaN(addedMs) ? (first?.uploadedAt ?? null) : addedMs),
    files: files.flatMap(({ root, path }) => (root === null || path === null ? [] : [join(root, path)])),
    libraryPaths: paths ?? null,
  }
}
