import { requireLibrary } from '../../app/library-target.ts'
import type { SearchResponse } from '../../contract/records.ts'
import { wholeNumber } from '../../foundation/text/bounds.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { SearchRequest, ServiceClient } from '../../remote/service-client.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { ASKS_SERVICE } from '../global-options.ts'
import { wrapText } from '../render/layout.ts'

const PAGE_SIZE = 10

export const command = defineCommand({
  description: [
    'The results are ranked candidates, not verified answers. The notice of the service, on stderr, says what the search did',
    'not consider: for how many resources meaning is not computed yet, and what computes it.',
  ].join('\n'),
  positionals: { query: { type: 'string', required: true, array: true, describe: 'What to look for' } },
  options: {
    library: {
      type: 'string',
      array: true,
      completes: 'libraries',
      describe: 'Only in this library; may be given several times',
    },
    strategy: { type: 'string', describe: 'lexical matches terms without asking an AI provider' },
    limit: { type: 'number', bounds: wholeNumber(1, 1_000), describe: `Candidates of a page, ${PAGE_SIZE} by default` },
    page: {
      type: 'number',
      bounds: wholeNumber(1, 1_000),
      describe: 'List the candidates after those of earlier pages',
    },
    compact: { type: 'boolean', describe: 'Without abstracts and excerpts' },
  },
  ...ASKS_SERVICE,
  examples: [
    ['search "solar sails"', 'in every readable library'],
    ['search --page 2 "solar sails"', 'the next ones'],
    ['search --library Research --strategy lexical --json sails', 'the answer of the service'],
  ],
  async run(context, args) {
    const { limit: size = PAGE_SIZE, page = 1 } = args
    const [start, end] = [size * (page - 1), size * page]
    // One more than is shown says whether there is another page.
    const limit = Math.max(end, Math.min(end + 1, MOST_AT_ONCE))
    await using service = await context.openService()
    const request: SearchRequest = {
      query: args.query.join(' '),
      libraryIds: await findIds(service.client, args.library, context.signal),
      ...(args.strategy !== undefined && { strategy: args.strategy }),
      limit,
      ...(args.compact && { outputFormat: 'compact' }),
    }
    const response = await service.client.searchResources(request, context.signal)
    const results = response.results.slice(start, end)
    if (context.json) context.printJson({ ...response, results })
    else printPage({ ...response, results }, { start, limit, found: response.results.length, page }, context)
  },
})

/** Services may refuse to list more at a time. */
const MOST_AT_ONCE = 100
const MAX_EXCERPT = 400

async function findIds(client: ServiceClient, names: readonly string[], signal: AbortSignal): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) ids.push((await requireLibrary(client, name, signal)).id)
  return ids
}

interface PagePlace {
  readonly page: number
  /** Candidates on earlier pages. */
  readonly start: number
  /** The most that the service was asked for. */
  readonly limit: number
  /** Candidates that were listed: those up to this page, and one more if there are more. */
  readonly found: number
}

function printPage(
  { results, notice }: SearchResponse,
  { page, start, limit, found }: PagePlace,
  { printText: print, printMessage, columns }: CommandContext,
): void {
  for (const { resource } of results) {
    const { id, title, paths = [], assets = [] } = resource
    const [shown] = assets.filter((asset) => asset.excerpt ?? asset.text)
    const excerpt = shown?.excerpt ?? shown?.text
    print(escapeText(`${title ?? id}  ${paths[0] ?? ''}  (${id})`), 'heading')
    if (excerpt) print(`    ${escapeText(truncateText(excerpt.replace(/\s+/g, ' '), MAX_EXCERPT))}`, 'excerpt')
  }
  const end = start + results.length
  if (found === 0) print('Nothing matched')
  else if (results.length === 0) print(`Nothing on page ${page}: the search found ${found}`)
  const more = found > end ? `, the best first; more with --page ${page + 1}` : found < limit ? ', the last ones' : ''
  if (results.length > 0 && (found > end || page > 1)) printMessage(`${start + 1} to ${end}${more}`)
  const text = escapeText(notice)
  if (text !== '') printMessage(columns === undefined ? text : wrapText(text, columns))
}
