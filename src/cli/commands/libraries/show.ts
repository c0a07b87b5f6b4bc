import { requireLibrary } from '../../../app/libraries/require-library.ts'
import { defineCommand } from '../../command.ts'
import { renderFields } from '../../render/layout/table.ts'

export const command = defineCommand({
  positionals: {
    library: { type: 'string', required: true, completes: 'libraries', describe: 'Identifier or exact name' },
  },
  options: {},
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [['libraries show Research', 'its identifier, overview, times and your rights']],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, args) {
    await using service = await context.openService()
    const summary = await requireLibrary(service.client, args.library, context.signal)
    const library = await service.client.showLibrary(summary.id, context.signal)
    if (context.json) context.printJson({ ...library, access: summary.access })
    else {
      const { id, name, overview, created_at, updated_at } = library
      context.print(
        renderFields({
          id,
          name,
          overview,
          created: created_at,
          updated: updated_at,
          rights: summary.access.join(', '),
        }),
      )
    }
    return 'done'
  },
})
