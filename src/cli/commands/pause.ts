import { changeStore } from '../../app/change-store.ts'
import { chooseNames } from '../../app/mirrors/choose-names.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { pauseMirrors } from '../../sync/pause.ts'
import { defineCommand } from '../command.ts'

export const command = defineCommand({
  description: [
    'For these mirrors, or for all, until "shelfd resume", also after a restart of the daemon or the machine. The daemon',
    'continues to watch and scan, so that it misses nothing, and follows the ingestion of what it sent before.',
    '"shelfd sync" ignores the pause.',
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
