import { requireLibrary } from '../../app/library-target.ts'
import type { LibrarySummary } from '../../contract/records.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { formatDayAndTime } from '../../foundation/text/times.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import { searchLibraries } from '../../sync/pin/pin-mirror.ts'
import { defineCommand } from '../command.ts'
import { ASKS_SERVICE, CONNECTION_FLAGS } from '../global-options.ts'
import { renderFields } from '../render/layout.ts'
import { confirmByName } from '../terminal/prompts.ts'

const LIBRARY = {
  type: 'string',
  required: true,
  completes: 'libraries',
  describe: 'Identifier or exact name',
} as const

export const listCommand = defineCommand({
  settingFlags: CONNECTION_FLAGS,
  examples: [['libraries list', 'identifiers, names and rights']],
  exits: ['done', 'temporary', 'refused'],
  async run(context) {
    await using service = await context.openService()
    const libraries: LibrarySummary[] = await Array.fromAsync(service.client.listLibraries(context.signal))
    if (context.json) context.printJson(libraries)
    else context.printTable(['id', 'library', 'rights'], libraries.map(toRow))
  },
})

function toRow({ id, name, access }: LibrarySummary): string[] {
  return [id, name, access.join(', ')]
}

export const createCommand = defineCommand({
  description: 'Needs the ability library.create. Creating a library does not grant access to it.',
  positionals: { name: { type: 'string', required: true, describe: 'Name of the new library' } },
  options: { overview: { type: 'string', describe: 'What the library is about' } },
  ...ASKS_SERVICE,
  examples: [['libraries create Research --overview "Papers and notes"', 'create a library']],
  async run(context, { name, overview }) {
    await using service = await context.openService()
    const library = await service.client.createLibrary(name, overview ?? null, context.signal)
    if (context.json) context.printJson(library)
    else context.printText(renderFields({ id: library.id, name: library.name, overview: library.overview }))
  },
})

export const showCommand = defineCommand({
  positionals: { library: LIBRARY },
  ...ASKS_SERVICE,
  examples: [['libraries show Research', 'its identifier, overview, times and your rights']],
  async run(context, args) {
    await using service = await context.openService()
    const summary = await requireLibrary(service.client, args.library, context.signal)
    const library = await service.client.showLibrary(summary.id, context.signal)
    if (context.json) context.printJson({ ...library, access: summary.access })
    else {
      const { id, name, overview, created_at, updated_at } = library
      const [created, updated] = [created_at, updated_at].map(localTime)
      context.printText(renderFields({ id, name, overview, created, updated, rights: summary.access.join(', ') }))
    }
  },
})

/** Returns a time of a service in local form; a text in a form that is not known stays as it is. */
function localTime(text: string): string {
  const timeMs = Date.parse(text)
  return Number.isNaN(timeMs) ? text : formatDayAndTime(timeMs)
}

export const deleteCommand = defineCommand({
  description: 'Asks for the name of the library. This cannot be undone. Needs the ability library.delete.',
  positionals: { library: LIBRARY },
  options: {
    confirm: { type: 'string', placeholder: 'NAME', describe: 'The name of the library, instead of being asked' },
  },
  settingFlags: CONNECTION_FLAGS,
  examples: [
    ['libraries delete Research', 'asks for the name'],
    ['libraries delete lib_1 --confirm Research', 'for scripts'],
  ],
  exits: ['done', 'failed', 'temporary', 'refused', 'heldBack'],
  async run(context, args) {
    await using service = await context.openService()
    const { id, name } = await findTarget(service.client, args.library, context.signal)
    const extent = ' and everything in it'
    await confirmByName(context, 'delete the library', name, { extent, typed: args.confirm, flag: '--confirm NAME' })
    await service.client.deleteLibrary(id, context.signal)
    if (context.json) context.printJson({ deleted: { id, name } })
    else context.printMessage(`Deleted the library "${escapeText(name)}" (${escapeText(id)})`)
  },
})

/** Returns the identifier and name of a library; an unlisted word is used for both, because deleting needs no right to read. */
async function findTarget(client: ServiceClient, idOrName: string, signal: AbortSignal) {
  const { library } = await searchLibraries(client, idOrName, signal)
  return library ?? { id: idOrName, name: idOrName }
}
