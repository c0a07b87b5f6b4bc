import { HeldBackError } from '../../../foundation/errors.ts'
import { escapeText } from '../../../foundation/text/safe-text.ts'
import type { ServiceClient } from '../../../remote/service-client.ts'
import { searchLibraries } from '../../../sync/pin/find-library.ts'
import { defineCommand } from '../../command.ts'
import type { CommandContext } from '../../context.ts'
import { askLine } from '../../terminal/ask-line.ts'

export const command = defineCommand({
  description: 'Asks for the name of the library. There is no way back. Needs the ability library.delete.',
  positionals: {
    library: { type: 'string', required: true, completes: 'libraries', describe: 'Identifier or exact name' },
  },
  options: {
    confirm: { type: 'string', placeholder: 'NAME', describe: 'The name of the library, instead of being asked' },
  },
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [
    ['libraries delete Research', 'asks for the name'],
    ['libraries delete lib_1 --confirm Research', 'for scripts'],
  ],
  exits: ['done', 'failed', 'temporary', 'refused', 'heldBack'],
  async run(context, args) {
    await using service = await context.openService()
    const { id, name } = await findTarget(service.client, args.library, context.signal)
    const typed = args.confirm ?? (await askName(context, name))
    if (typed !== name) {
      throw new HeldBackError('confirmation-needed', `Cannot delete the library "${name}": "${typed}" is not its name`)
    }
    await service.client.deleteLibrary(id, context.signal)
    if (context.json) context.printJson({ deleted: { id, name } })
    else context.printMessage(`Deleted the library "${escapeText(name)}" (${escapeText(id)})`)
    return 'done'
  },
})

/** Deleting needs no right to read (4.9), so a word that no listing shows is used as an identifier, and as the name. */
async function findTarget(client: ServiceClient, idOrName: string, signal: AbortSignal) {
  const { library } = await searchLibraries(client, idOrName, signal)
  return library ?? { id: idOrName, name: idOrName }
}

async function askName(context: CommandContext, name: string): Promise<string> {
  if (!context.io.isTerminal.stdin) {
    throw new HeldBackError('confirmation-needed', `Cannot delete the library "${name}" without --confirm NAME`)
  }
  return askLine(context, `Delete the library "${escapeText(name)}" and everything in it? Type its name: `)
}
