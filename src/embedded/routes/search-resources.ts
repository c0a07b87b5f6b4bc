import { z } from 'zod'
import type { Grant } from '../access/grant.ts'
import { forbidden, invalid } from '../http/api-error.ts'
import { queryEndpoint } from '../http/endpoint.ts'
import { exactHits } from '../http/exact-records.ts'
import { integerInput } from '../http/inputs.ts'
import { semanticQueryOf } from '../search/parse-query.ts'
import type { SearchHit, SearchRequest, SearchResult } from '../search/search-index.ts'
import type { Service } from '../service-parts.ts'
import { assetBody, resourceBody, resourceHead } from './resource-body.ts'

const MAX_ASSETS_A_HIT = 3
const LIMITS = { min: 1, max: 1_000, byDefault: 10 }
const MAX_DETAILED = 100

export const searchResources = queryEndpoint({
  route: 'searchResources',
  summary: 'Search resources by the terms and the meaning of their text',
  description: [
    '`lexical` matches terms. `balanced` also considers meaning; `notice` says what it could not consider.',
    'A word also finds its other forms in some 24 languages, and the last word also finds words that begin with it. "…" is a phrase,',
    '-word an exclusion. Words after the first 128 are ignored. A resource ranks by its best passage. Rare words count more, and so do',
    'words in headings and names, and passages that have all the words. A library in `library_ids[]` (also written `library_ids` or',
    '`library_ids[0]`) that does not exist is answered with 422, one that may not be read with 403. A detailed hit shows at most',
    `${MAX_ASSETS_A_HIT} assets, the best first. Their \`excerpt\` is the part around the matching words, which stand in **…**, and`,
    `\`excerpt_marks\` says where they begin and end in it. More than ${MAX_DETAILED} hits are available only in compact form.`,
    'Resources that were uploaded with the same title into the same directory (except the inbox) are versions of one document:',
    '`versions=current` finds only the newest one, and `superseded_by` of the others names it.',
  ].join(' '),
  query: z.preprocess(
    gatherLibraryIds,
    z.object({
      query: z.string().trim().min(1).max(1_000),
      'library_ids[]': z.array(z.string()).max(500).default([]),
      strategy: z.enum(['lexical', 'balanced']).default('balanced'),
      limit: integerInput(LIMITS),
      output_format: z.enum(['compact', 'detailed']).default('detailed'),
      versions: z.enum(['current', 'all']).default('all'),
    }),
  ),
  responses: { 200: { description: 'Ranked candidates', shape: exactHits } },
  errors: [401, 403, 422],
  async handle({ service, grant, query }) {
    const isCompact = query.output_format === 'compact'
    if (!isCompact && query.limit > MAX_DETAILED)
      throw invalid('limit', `must be a whole number from 1 to ${MAX_DETAILED}, or to ${LIMITS.max} in compact form`)
    const found = await search({ service, asker: grant?.tokenId ?? 0 }, query.strategy, {
      query: query.query,
      libraryIds: searchedLibraries(service, grant, query['library_ids[]']),
      limit: query.limit,
      passages: isCompact ? 0 : MAX_ASSETS_A_HIT,
      isCurrentOnly: query.versions === 'current',
    })
    const describe = isCompact ? compactHit : detailedHit
    const results = found.result.hits.map((hit) => ({ resource: describe(service, hit) }))
    const notice = noticeOf(found)
    return { notice, results: results.filter(({ resource }) => resource) }
  },
})

/**
 * Returns the query with the libraries of all notations that clients use (`library_ids[]`, `library_ids`, `library_ids[0]`) in the first.
 * Throws 422 for any other parameter that begins with "librar", because a search that ignored it would cover every library.
 */
function gatherLibraryIds(query: unknown): unknown {
  const entries = Object.entries(z.record(z.string(), z.unknown()).parse(query))
  const named = entries.filter(([name]) => /^librar/i.test(name))
  for (const [name] of named) {
    if (!/^library_ids(\[\d*\])?$/.test(name)) throw invalid(name, 'Name the libraries as "library_ids[]"')
  }
  return { ...Object.fromEntries(entries), 'library_ids[]': named.flatMap(([, value]) => value) }
}

/** Returns the row ids of the libraries to search; undefined means all. Throws 422 for an unknown one, 403 for one that may not be read. */
function searchedLibraries(service: Service, grant: Grant | undefined, asked: readonly string[]): number[] | undefined {
  const { libraries } = service.tables
  const isReadable = (library: { id: number }) => grant?.accessTo(library).includes('read') ?? false
  if (asked.length === 0) {
    const all = libraries.all()
    const hasDeleted = service.tables.deletedLibraries.next() !== undefined
    const readable = all.filter(isReadable)
    return readable.length === all.length && !hasDeleted ? undefined : readable.map(({ id }) => id)
  }
  return asked.map((publicId) => {
    const library = libraries.byPublicId(publicId)
    if (!library) throw invalid('library_ids', `There is no library "${publicId}"`)
    if (!isReadable(library)) throw forbidden('"read" on a library of the search')
    return library.id
  })
}

function compactHit({ tables }: Service, hit: SearchHit) {
  const resource = tables.resources.byId(hit.resourceId)
  return resource && resourceHead(tables, resource)
}

function detailedHit({ tables }: Service, hit: SearchHit) {
  const resource = tables.resources.byId(hit.resourceId)
  if (!resource) return undefined
  const assets = hit.passages.map(({ passage, excerpt, marks }) => {
    return { ...assetBody(resource, passage, passage.text.length), excerpt, excerpt_marks: marks }
  })
  return resourceBody(tables, resource, assets, hit.first)
}

interface Search {
  readonly result: SearchResult
  readonly isSemantic: boolean
  /** Sentences that say what a balanced search could not consider. */
  readonly notices: readonly string[]
}

/** Searches by terms, and by meaning as well if the strategy is `balanced` and the query asks for more than its very words. */
async function search(
  { service: { search, semantics }, asker }: { readonly service: Service; readonly asker: number },
  strategy: 'lexical' | 'balanced',
  request: SearchRequest,
): Promise<Search> {
  if (strategy === 'lexical') return { result: await search.find(request, asker), isSemantic: false, notices: [] }
  const question = semanticQueryOf(request.query)
  const found = question === undefined ? undefined : await semantics.ofQuery(question)
  const semantic = found && 'semantic' in found ? found.semantic : undefined
  // Counts the gaps after embedding the query, which may have found that the model changed and that no vectors of it exist yet.
  const said = [semantics.gaps(), found && 'notice' in found ? found.notice : undefined]
  const notices = new Set(said.filter((each) => each !== undefined))
  return {
    result: await search.find({ ...request, semantic }, asker),
    isSemantic: semantic !== undefined,
    notices: [...notices],
  }
}

function noticeOf({ result, isSemantic, notices }: Search): string {
  const about = 'Candidates, not verified answers: check excerpts against the source.'
  const sentences = [...(result.hits.length > 0 ? [about] : []), ...notices]
  const quote = (words: readonly string[]) => words.map((word) => `"${word}"`).join(', ')
  if (result.onlyExcludes) sentences.push('The query only excludes words: add words to look for.')
  if (result.hits.length > 0 && result.matched === 'some') {
    sentences.push(
      `No resource has all the terms; these have some of them${isSemantic ? ', or a similar meaning' : ''}.`,
    )
    if (result.unknown.length > 0) sentences.push(`None has ${quote(result.unknown)}.`)
  }
  for (const { written, meant } of result.corrections) {
    sentences.push(`No resource has "${written}"; searched for ${quote(meant)}.`)
  }
  return sentences.join(' ')
}
