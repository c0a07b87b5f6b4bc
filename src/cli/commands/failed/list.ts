import { counted } from '../../../foundation/text/safe-text.ts'
import { openStoreReader } from '../../../store/open-store.ts'
import { readStatus } from '../../../sync/report/status.ts'
import { defineCommand } from '../../command.ts'
import type { CommandContext } from '../../context.ts'
import { quarantinedJson, showQuarantine } from '../../render/quarantine.ts'
import { readQuarantine } from './find-quarantined.ts'

export const command = defineCommand({
  description: [
    'One row for each content, however many files have it: refused uploads, and resources whose ingestion ended partial, failed or',
    'unknown. shelfd tries each again at growing intervals. What "failed ignore" set aside is not listed. Other problems,',
    'such as unreadable files, are shown by "status" and the report.',
  ].join('\n'),
  positionals: {},
  options: { all: { type: 'boolean', describe: 'Also those that were set aside' } },
  examples: [
    ['failed list', 'what went wrong, since when, and when it is tried again'],
    ['failed list --all --json', 'the same for scripts, with what was set aside'],
  ],
  exits: ['done', 'operator'],
  async run(context, { all }) {
    const contents = readQuarantine(context).filter(({ isSetAside }) => all || !isSetAside)
    if (context.json) context.printJson({ contents: contents.map(quarantinedJson) })
    else if (contents.length > 0) showQuarantine(context, contents)
    else context.printMessage(describeNothing(context))
    return 'done'
  },
})

/** Names other problems, so that an empty list does not look as if there were none. */
function describeNothing({ settings }: CommandContext): string {
  using store = openStoreReader(settings.stateDir)
  const others = store ? readStatus(store).reduce((sum, { problems }) => sum + problems.length, 0) : 0
  return others === 0
    ? 'Nothing is in quarantine'
    : `No upload failed; there ${others === 1 ? 'is' : 'are'} ${counted(others, 'other problem')}: shelfd status`
}
