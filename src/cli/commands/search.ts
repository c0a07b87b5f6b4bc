import { requireLibrary } from '../../app/library-target.ts'
import type { SearchResponse } from '../../contract/records.ts'
import { wholeNumber } from '../../foundation/text/bounds.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { SearchRequest, ServiceClient } from '../../remote/service-client.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { ASKS_SERVICE } from '../global-options.ts'
import { wrapText } from '../render/layout.ts'

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
    limit: { type: 'number', bounds: wholeNumber(1, 1_000), describe: 'The most candidates to list' },
    compact: { type: 'boolean', describe: 'Without abstracts and excerpts' },
  },
  ...ASKS_SERVICE,
  examples: [
    ['search "solar sails"', 'in every readable library'],
    ['search --library Research --strategy lexical --json sails', 'the answer as the service gives it'],
  ],
  async run(context, args) {
    await using service = await context.openService()
    const request: SearchRequest = {
      query: args.query.join(' '),
      libraryIds: await findIds(service.client, args.library, context.signal),
      ...(args.strategy !== undefined && { strategy: args.strategy }),
      ...(args.limit !== undefined && { limit: args.limit }),
      ...(args.compact && { outputFormat: 'compact' }),
    }
    const answer = await service.client.searchResources(request, context.signal)
    if (context.json) context.printJson(answer)
    else printResponse(answer, context)
  },
})

const MAX_EXCERPT = 400

async function findIds(client: ServiceClient, names: readonly string[], signal: AbortSignal): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) ids.push((await requireLibrary(client, name, signal)).id)
  return ids
}

function printResponse(
  { results, notice }: SearchResponse,
  { printText: print, printMessage, columns }: CommandContext,
): void {
  if (results.length === 0) print('Nothing matched')
  for (const { resource } of results) {
    const { id, title, paths = [], assets = [] } = resource
    const [shown] = assets.filter((asset) => asset.excerpt ?? asset.text)
    const excerpt = shown?.excerpt ?? shown?.text
    print(escapeText(`${title ?? id}  ${paths[0] ?? ''}  (${id})`), 'heading')
    if (excerpt) print(`    ${escapeText(truncateText(excerpt.replace(/\s+/g, ' '), MAX_EXCERPT))}`, 'excerpt')
  }
  const text = escapeText(notice)
  if (text !== '') printMessage(columns === undefined ? text : wrapText(text, columns))
}
