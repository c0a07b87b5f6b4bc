import { changeStore } from '../../app/change-store.ts'
import { chooseNames } from '../../app/mirrors/choose-names.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { pauseMirrors } from '../../sync/pause.ts'
import { defineCommand } from '../command.ts'

export const command = defineCommand({
  description: [
    'Of these mirrors, or of all; kept until "shelfd resume", also when the daemon or the machine starts anew. The daemon',
    'goes on watching and scanning, so that nothing is missed, and what was sent before is followed to its end.',
    '"shelfd sync" by hand sends all the same.',
  ].join('\n'),
  positionals: {
    mirrors: { type: 'string', array: true, describe: 'Names of mirrors', placeholder: 'MIRROR', completes: 'mirrors' },
  },
  options: {},
  examples: [
    ['pause', 'upload nothing until "shelfd resume"'],
    ['pause papers', 'upload nothing of the mirror "papers"'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { mirrors }) {
    const names = chooseNames(context.settings, mirrors)
    await changeStore(context.settings.stateDir, {
      ask: (daemon) => daemon.pause(names),
      make: (store) => pauseMirrors(store, names),
    })
    if (context.json) context.printJson({ paused: names.length === 0 ? 'all' : names })
    else context.printMessage(`Paused: ${names.map(escapeText).join(', ') || 'all mirrors'}`)
    return 'done'
  },
})
