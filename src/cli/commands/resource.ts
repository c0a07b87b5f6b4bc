import { requireLibrary } from '../../app/library-target.ts'
import type { ResourceRecord } from '../../contract/records.ts'
import { ingestionOutcome } from '../../contract/states.ts'
import { isNotFound, RequestError } from '../../foundation/errors.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { ASKS_SERVICE } from '../global-options.ts'
import { renderFields } from '../render/layout.ts'
import { OUTPUT_OPTIONS, printViewUrl, readView, VIEW_URL_OPTIONS, writeDownload } from '../render/print-download.ts'

const ID = { type: 'string', required: true, describe: 'Identifier of the resource' } as const

export const showCommand = defineCommand({
  positionals: { id: ID },
  options: {
    library: {
      type: 'string',
      completes: 'libraries',
      describe: 'Its library; by default every readable library is searched',
    },
  },
  ...ASKS_SERVICE,
  examples: [['resource show res_1 --library Research', 'title, paths, ingestion and assets']],
  async run(context, args) {
    await using service = await context.openService()
    const { library, resource } = await findResource(service.client, args.id, args.library, context.signal)
    if (context.json) context.printJson(resource)
    else printResource(context, resource, library.name)
  },
})

function printResource(
  { print, printText, printTable }: CommandContext,
  resource: ResourceRecord,
  library: string,
): void {
  const { id, title, paths = [], assets = [], abstract, ingestion_status: status } = resource
  const ingestion = `${String(status)} (${ingestionOutcome(status)})`
  const warnings = (resource.ingestion_warnings ?? []).join('; ')
  const shown = { id, title, library, paths: paths.join(', '), ingestion, warnings, abstract }
  printText(renderFields({ ...shown, error: resource.ingestion_error }))
  const rows = assets.map((asset) => [asset.id, asset.mime_type ?? '', asset.text ?? ''])
  if (rows.length > 0) {
    print('')
    printTable(['asset', 'type', 'text'], rows)
  }
}

export const downloadCommand = defineCommand({
  positionals: { id: ID },
  options: OUTPUT_OPTIONS,
  ...ASKS_SERVICE,
  examples: [
    ['resource download res_1 --output paper.pdf', 'never replaces a file without --force'],
    ['resource download res_1 | sha256sum', 'to stdout when piped'],
  ],
  async run(context, args) {
    await using service = await context.openService()
    await writeDownload(context, await service.client.downloadResource(args.id, context.signal), args)
  },
})

export const urlCommand = defineCommand({
  description: 'Anyone who has the URL can open it until it expires.',
  positionals: { id: ID },
  options: VIEW_URL_OPTIONS,
  ...ASKS_SERVICE,
  examples: [['resource url res_1 --ttl 5', 'a URL that works for five minutes']],
  async run(context, args) {
    await using service = await context.openService()
    printViewUrl(context, await service.client.createResourceViewUrl(args.id, readView(args), context.signal))
  },
})

/** Finds a resource in the named library, or in any readable one if none is named. */
export async function findResource(
  client: ServiceClient,
  id: string,
  libraryName: string | undefined,
  signal: AbortSignal,
) {
  if (libraryName !== undefined) {
    const library = await requireLibrary(client, libraryName, signal)
    return { library, resource: await client.showResource(library.id, id, signal) }
  }
  for await (const library of client.listLibraries(signal)) {
    const resource = await client.showResource(library.id, id, signal).catch(undefinedWhenAbsent)
    if (resource) return { library, resource }
  }
  const todo = '"shelfd search" and "shelfd report --json" show identifiers'
  throw new RequestError('not-found', `Cannot find the resource "${id}": no readable library has it; ${todo}`, 404)
}

function undefinedWhenAbsent(error: unknown): undefined {
  if (isNotFound(error)) return undefined
  throw error
}
