import { defineCommand } from '../../command.ts'
import { renderFields } from '../../render/layout/table.ts'

export const command = defineCommand({
  description: 'Needs the ability library.create. Creating a library does not grant access to it.',
  positionals: { name: { type: 'string', required: true, describe: 'Name of the new library' } },
  options: { overview: { type: 'string', describe: 'What the library is about' } },
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [['libraries create Research --overview "Papers and notes"', 'create a library']],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, { name, overview }) {
    await using service = await context.openService()
    const library = await service.client.createLibrary(name, overview ?? null, context.signal)
    if (context.json) context.printJson(library)
    else context.print(renderFields({ id: library.id, name: library.name, overview: library.overview }))
    return 'done'
  },
})
