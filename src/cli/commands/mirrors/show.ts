import { findByName } from '../../../app/mirrors/choose-known.ts'
import { explainInactive, listRoster, type RosterEntry } from '../../../app/mirrors/mirror-roster.ts'
import { counted, groupDigits } from '../../../foundation/text/safe-text.ts'
import { openStoreReader, type StoreReader } from '../../../store/open-store.ts'
import { nameOrigin } from '../../../sync/pin/pinned-service.ts'
import { defineCommand } from '../../command.ts'
import { renderFields } from '../../render/layout/table.ts'
import { describeActivity, mirrorJson, targetOf } from '../../render/mirror.ts'

export const command = defineCommand({
  description:
    'Shows its directory, its library, and, when it is not synced, why and what to do. "shelfd status" shows its state.',
  positionals: {
    mirror: {
      type: 'string',
      required: true,
      describe: 'Name of a mirror',
      placeholder: 'MIRROR',
      completes: 'mirrors',
    },
  },
  options: {},
  examples: [['mirrors show papers', 'whether and why it is synced']],
  exits: ['done', 'operator'],
  async run(context, args) {
    const { settings } = context
    using store = openStoreReader(settings.stateDir)
    const entry = findByName(listRoster(settings, store?.mirrors.list() ?? []), args.mirror)
    const holdings = store && readHoldings(store, entry)
    if (context.json) {
      context.printJson({ ...mirrorJson(entry), ...holdings })
      return 'done'
    }
    const { row, configured } = entry
    const fields = renderFields({
      name: entry.name,
      state: describeActivity(entry),
      'created by': configured ? `the configuration (${settings.configFile})` : originOf(entry),
      directory: entry.path,
      library: targetOf(entry),
      service: row && nameOrigin(row.library.origin),
      files: holdings && `${counted(holdings.files, 'file')} known`,
      resources: holdings && `${groupDigits(holdings.resources)} that no other mirror stands for`,
      'way out': explainInactive(entry),
    })
    context.print(fields)
    return 'done'
  },
})

function originOf({ row }: RosterEntry): string {
  return row?.isAdHoc ? '"shelfd sync DIR"' : 'a configuration that no longer names it'
}

function readHoldings(store: StoreReader, { row }: RosterEntry) {
  return row && store.mirrors.countHoldings({ id: row.id, libraryId: row.library.id })
}
