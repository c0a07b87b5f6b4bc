import type { LibrarySummary } from '../../../contract/records.ts'
import { defineCommand } from '../../command.ts'

export const command = defineCommand({
  positionals: {},
  options: {},
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [['libraries list', 'identifiers, names and rights']],
  exits: ['done', 'temporary', 'refused'],
  async run(context) {
    await using service = await context.openService()
    const libraries: LibrarySummary[] = await Array.fromAsync(service.client.listLibraries(context.signal))
    if (context.json) context.printJson(libraries)
    else context.printTable(['id', 'library', 'rights'], libraries.map(toRow))
    return 'done'
  },
})

function toRow({ id, name, access }: LibrarySummary): string[] {
  return [id, name, access.join(', ')]
}
