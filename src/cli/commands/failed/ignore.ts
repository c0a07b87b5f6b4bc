import { changeStore } from '../../../app/change-store.ts'
import { UsageError } from '../../../foundation/errors.ts'
import { counted } from '../../../foundation/text/safe-text.ts'
import { setContentsAside } from '../../../sync/quarantine.ts'
import { defineCommand } from '../../command.ts'
import { findQuarantined, QUARANTINED } from './find-quarantined.ts'

export const command = defineCommand({
  description: [
    'shelfd does not try them again, and no run fails because of them; the report still shows them. This holds for the',
    'content: when the file changes, it is sent. "failed retry" undoes this.',
  ].join('\n'),
  positionals: { contents: QUARANTINED },
  options: {},
  examples: [['failed ignore ~/Papers/broken.pdf', 'do not try this file again']],
  exits: ['done', 'locked', 'operator'],
  async run(context, { contents }) {
    if (contents.length === 0) throw new UsageError('bad-usage', 'Name the files to set aside')
    const contentIds = findQuarantined(context, contents).map(({ contentId }) => contentId)
    const count = await changeStore(context.settings.stateDir, {
      ask: (daemon) => daemon.ignore(contentIds),
      make: (store) => setContentsAside(store, contentIds),
    })
    if (context.json) context.printJson({ setAside: count })
    else context.printMessage(`Set aside: ${counted(count, 'file')}`)
    return 'done'
  },
})
