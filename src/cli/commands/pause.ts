import { changeStore } from '../../app/ask-daemon.ts'
import { chooseNames } from '../../app/mirrors/choose-stored.ts'
import { readRoster } from '../../app/mirrors/mirror-roster.ts'
import { InterruptedError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { pauseMirrors, resumeMirrors } from '../../sync/operator/pause-mirrors.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { openPrompts } from '../terminal/prompts.ts'

const MIRRORS = {
  type: 'string',
  array: true,
  describe: 'Names of mirrors',
  placeholder: 'MIRROR',
  completes: 'mirrors',
} as const

export const pauseCommand = defineCommand({
  description: [
    'Holds back the uploads of these mirrors, or of all (on a terminal it asks which), until "shelfd resume", also after a restart of the',
    'daemon or the machine. The daemon continues to watch and scan, so that it misses nothing, and follows the ingestion of what it sent.',
    '"shelfd sync" ignores the pause.',
  ].join('\n'),
  positionals: { mirrors: MIRRORS },
  examples: [
    ['pause', 'upload nothing until "shelfd resume"'],
    ['pause papers', 'upload nothing of the mirror "papers"'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { mirrors }) {
    const names = chooseNames(context.settings, mirrors.length > 0 ? mirrors : await askWhich(context))
    const hasDaemon = await changeStore(context.settings.stateDir, {
      askDaemon: (daemon) => daemon.pause(names).then(() => true),
      changeStore: (store) => {
        pauseMirrors(store, names)
        return false
      },
    })
    const effect = hasDaemon ? '' : '; no daemon runs now, and "shelfd sync" ignores a pause'
    if (context.json) context.printJson({ paused: names.length === 0 ? 'all' : names })
    else context.printMessage(`Paused: ${names.map(escapeText).join(', ') || 'all mirrors'}${effect}`)
  },
})

/** Asks on a terminal which of several mirrors are meant; an empty list means all. */
async function askWhich(context: CommandContext): Promise<readonly string[]> {
  const { settings, io, json, quiet } = context
  if (!io.isTerminal.stdin || !io.isTerminal.stderr || json || quiet) return []
  const roster = readRoster(settings).filter(({ activity }) => activity === 'active')
  if (roster.length < 2) return []
  const choices = roster.map(({ name, path }) => ({ value: name, label: name, hint: path }))
  const names = choices.map(({ value }) => value)
  const chosen = await (await openPrompts(context)).chooseSeveral('Pause which mirrors?', choices, names)
  if (chosen.length === 0) throw new InterruptedError()
  return chosen.length === roster.length ? [] : chosen
}

export const resumeCommand = defineCommand({
  description:
    'Ends "shelfd pause" for these mirrors, or for all. The daemon sends what changed in the meantime at once.',
  positionals: { mirrors: MIRRORS },
  examples: [
    ['resume', 'end every pause'],
    ['resume papers', 'of the mirror "papers" alone, also when all are paused'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { mirrors }) {
    const names = chooseNames(context.settings, mirrors)
    await changeStore(context.settings.stateDir, {
      askDaemon: (daemon) => daemon.resume(names),
      changeStore: (store) => resumeMirrors(store, names),
    })
    if (context.json) context.printJson({ resumed: names.length === 0 ? 'all' : names })
    else context.printMessage(`Resumed: ${names.map(escapeText).join(', ') || 'all mirrors'}`)
  },
})
