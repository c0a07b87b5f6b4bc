import { changeStore } from '../../../app/change-store.ts'
import { UsageError } from '../../../foundation/errors.ts'
import { counted } from '../../../foundation/text/safe-text.ts'
import { retryContents } from '../../../sync/quarantine.ts'
import { defineCommand } from '../../command.ts'
import { findQuarantined, QUARANTINED, readQuarantine } from './find-quarantined.ts'

export const command = defineCommand({
  description: [
    'Ends the quarantine: the next run tries these files, a running daemon at once. It sends a refused file again, and it polls',
    'again a resource whose ingestion went wrong. It also undoes "failed ignore".',
  ].join('\n'),
  positionals: { contents: QUARANTINED },
  options: { all: { type: 'boolean', describe: 'All that were not set aside' } },
  examples: [
    ['failed retry ~/Papers/scan.pdf', 'after the service was fixed'],
    ['failed retry --all', 'everything that "failed list" lists'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { contents, all }) {
    if (all === contents.length > 0) throw new UsageError('bad-usage', 'Name files, or give --all')
    const found = all
      ? readQuarantine(context).filter(({ isSetAside }) => !isSetAside)
      : findQuarantined(context, contents)
    const contentIds = found.map(({ contentId }) => contentId)
    const count = await changeStore(context.settings.stateDir, {
      ask: (daemon) => daemon.retry(contentIds),
      make: (store) => retryContents(store, contentIds),
    })
    if (context.json) context.printJson({ due: count })
    else context.printMessage(`Due now: ${counted(count, 'file')}`)
    return 'done'
  },
})
