import { changeStore } from '../../app/change-store.ts'
import { chooseNames } from '../../app/mirrors/choose-names.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { resumeMirrors } from '../../sync/pause.ts'
import { defineCommand } from '../command.ts'

export const command = defineCommand({
  description:
    'Ends "shelfd pause" for these mirrors, or for all. The daemon sends what changed in the meantime at once.',
  positionals: {
    mirrors: { type: 'string', array: true, describe: 'Names of mirrors', placeholder: 'MIRROR', completes: 'mirrors' },
  },
  options: {},
  examples: [
    ['resume', 'end every pause'],
    ['resume papers', 'of the mirror "papers" alone, also when all are paused'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { mirrors }) {
    const names = chooseNames(context.settings, mirrors)
    await changeStore(context.settings.stateDir, {
      ask: (daemon) => daemon.resume(names),
      make: (store) => resumeMirrors(store, names),
    })
    if (context.json) context.printJson({ resumed: names.length === 0 ? 'all' : names })
    else context.printMessage(`Resumed: ${names.map(escapeText).join(', ') || 'all mirrors'}`)
    return 'done'
  },
})
