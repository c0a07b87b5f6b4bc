import { ingestionOutcome } from '../../../contract/states.ts'
import { defineCommand } from '../../command.ts'
import { renderFields } from '../../render/layout/table.ts'
import { findResource } from './find-resource.ts'

export const command = defineCommand({
  positionals: { id: { type: 'string', required: true, describe: 'Identifier of the resource' } },
  options: {
    library: {
      type: 'string',
      completes: 'libraries',
      describe: 'Its library; by default every readable library is searched',
    },
  },
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [['resource show res_1 --library Research', 'title, places, ingestion and assets']],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, args) {
    await using service = await context.openService()
    const { library, resource } = await findResource(service.client, args.id, args.library, context.signal)
    if (context.json) {
      context.printJson(resource)
      return 'done'
    }
    const { id, title, paths = [], assets = [], abstract, ingestion_status: status } = resource
    const ingestion = `${String(status)} (${ingestionOutcome(status)})`
    context.print(renderFields({ id, title, library: library.name, paths: paths.join(', '), ingestion, abstract }))
    const rows = assets.map((asset) => [asset.id, asset.mime_type ?? '', asset.text ?? ''])
    if (rows.length > 0) {
      context.print('')
      context.printTable(['asset', 'type', 'text'], rows)
    }
    return 'done'
  },
})
