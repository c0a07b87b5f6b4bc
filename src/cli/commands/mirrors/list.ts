import { listRoster } from '../../../app/mirrors/mirror-roster.ts'
import { openStoreReader } from '../../../store/open-store.ts'
import { defineCommand } from '../../command.ts'
import { describeActivity, mirrorJson, targetOf } from '../../render/mirror.ts'

export const command = defineCommand({
  description: [
    'Lists the mirrors in the configuration, synced or not, and those in the state: created by "shelfd sync DIR", no longer',
    'configured, or of another service. It contacts no service.',
  ].join('\n'),
  positionals: {},
  options: {},
  examples: [
    ['mirrors list', 'every mirror, its directory, its library, and whether it is synced'],
    ['mirrors list --json', 'the same for scripts'],
  ],
  exits: ['done', 'operator'],
  async run(context) {
    const { settings } = context
    using store = openStoreReader(settings.stateDir)
    const roster = listRoster(settings, store?.mirrors.list() ?? [])
    if (context.json) context.printJson({ mirrors: roster.map((entry) => mirrorJson(entry)) })
    else if (roster.length === 0) context.printMessage('There is no mirror yet: see "shelfd sync --help"')
    else {
      const rows = roster.map((entry) => [entry.name, describeActivity(entry), entry.path, targetOf(entry)])
      context.printTable(['name', 'state', 'directory', 'library'], rows)
    }
    return 'done'
  },
})
