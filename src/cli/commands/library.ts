import { changeStore } from '../../app/ask-daemon.ts'
import { choosePath } from '../../app/mirrors/choose-path.ts'
import type { OpenedService } from '../../app/service-client/open-service.ts'
import { HeldBackError, UsageError } from '../../foundation/errors.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { wholeNumber } from '../../foundation/text/bounds.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatDay, isoTime } from '../../foundation/text/times.ts'
import { formatSize, parseDuration } from '../../foundation/text/units.ts'
import { openStoreReader } from '../../store/open-store.ts'
import type { StoredResource, UnusedResource } from '../../store/tables/unused-resources.ts'
import {
  finishRemovals,
  listPrunable,
  type Removal,
  recordRemoval,
  removeResources,
} from '../../sync/operator/tidy-library.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { openPrompts } from '../terminal/prompts.ts'
import { findResource } from './resource.ts'

const YES = { yes: { type: 'boolean', describe: 'Remove them without being asked' } } as const
const MAX_SHOWN = 20

const REASONS = { changed: 'replaced', gone: 'gone', ignored: 'left out' } as const

export const pruneCommand = defineCommand({
  description: [
    'Removes documents without a file from the library on this computer: replaced versions, and documents whose files are gone or left',
    'out. It first lists them, with their number, their size and the oldest, and asks; without a terminal it removes nothing unless --yes',
    'is given. Documents that other programs put there stay, and so do those that were there before shelfd sent them. If other computers',
    'send into the same library, run this only on a computer that has all files, because it does not know the files of others.',
    'No run does this by itself, and nothing removes documents at a configured service. A file that comes back is sent again.',
  ].join('\n'),
  options: {
    'older-than': {
      type: 'string',
      placeholder: 'DURATION',
      describe: 'Only documents that have had no file for this long, such as 30d',
    },
    'keep-versions': {
      type: 'number',
      bounds: wholeNumber(0, 1_000_000),
      default: 0,
      describe: 'How many of the newest unused versions of each path to keep',
    },
    ...YES,
  },
  settingFlags: ['data-dir'],
  examples: [
    ['library prune', 'list what would be removed, then ask'],
    ['library prune --older-than 30d --keep-versions 2 --yes', 'for scripts'],
  ],
  exits: ['done', 'temporary', 'refused', 'locked', 'operator'],
  async run(context, { olderThan, keepVersions, yes }) {
    await using service = await openLibrary(context, 'prune')
    const tidying = await beginTidying(context, service)
    const nowMs = Date.now()
    const endedBefore = nowMs - (olderThan === undefined ? -1 : readDuration(olderThan))
    const found = findPrunable(context, service, { endedBefore, keepVersions })
    if (!context.json) printPrunable(context, found)
    const isAgreed = found.length > 0 && (yes || (await isConfirmed(context, describe(found))))
    const removed = isAgreed ? await removeResources(tidying, found, 'unused') : 0
    if (context.json) context.printJson({ removed, documents: found.map(toJson) })
    else if (isAgreed) context.printMessage(`Removed ${counted(removed, 'document')}`)
    else if (found.length > 0) context.printMessage('Nothing was removed; --yes removes them')
  },
})

export const removeCommand = defineCommand({
  description: [
    'Removes documents from the library on this computer for good, such as a key that was sent by mistake. Name a resource by its',
    'identifier, or a file by its path, which also removes the earlier versions. The content is not sent again, and no run fails because',
    'of it, until you run "shelfd failed retry" or the file changes. The file itself stays; a line in .shelfdignore leaves it out forever.',
  ].join('\n'),
  positionals: {
    documents: {
      type: 'string',
      required: true,
      array: true,
      describe: 'Files of mirrors, or identifiers of resources',
      placeholder: 'RESOURCE|PATH',
    },
  },
  options: YES,
  settingFlags: ['data-dir'],
  examples: [
    ['library remove ~/Papers/server.pem', 'asks, then removes it and its earlier versions'],
    ['library remove 0195d7c2b1f04e0d9c6a7d5e4f3b2a10 --yes', 'a resource, for scripts'],
  ],
  exits: ['done', 'temporary', 'refused', 'heldBack', 'locked', 'operator'],
  async run(context, { documents, yes }) {
    await using service = await openLibrary(context, 'remove')
    const tidying = await beginTidying(context, service)
    const found = await Array.fromAsync(documents, (word) => findDocuments(context, service, word))
    const resources = [...new Map(found.flat().map((each) => [each.resourceId, each])).values()]
    if (!yes) {
      if (!context.io.isTerminal.stdin)
        throw new HeldBackError('confirmation-needed', 'Cannot remove documents without --yes')
      if (!(await isConfirmed(context, `${documents.map(escapeText).join(', ')}: ${describe(resources)}`))) {
        context.printMessage('Nothing was removed')
        return
      }
    }
    const removed = await removeResources(tidying, resources, 'withheld')
    if (context.json) context.printJson({ removed })
    else context.printMessage(`Removed ${counted(removed, 'document')} for good`)
  },
})

/** Opens the library on this computer. Throws UsageError if a service is configured, because shelfd deletes nothing there (P7). */
async function openLibrary(context: CommandContext, verb: string): Promise<OpenedService> {
  const { service } = context.settings
  if (service.kind === 'embedded') return await context.openService()
  const why = `shelfd deletes nothing at a service, and "${service.origin}" is configured`
  throw new UsageError('bad-usage', `Cannot ${verb}: ${why}; use what the service offers for this`)
}

/** Completes the removals of an earlier command that was killed, and returns what the new removals need. */
async function beginTidying(context: CommandContext, { client, identity }: OpenedService) {
  const { stateDir } = context.settings
  const record = (removal: Removal) =>
    changeStore(stateDir, {
      askDaemon: (daemon) => daemon.recordRemoval(removal),
      changeStore: (store) => recordRemoval(store, removal),
    })
  const tidying = { client, signal: context.signal, record }
  using store = openStoreReader(stateDir)
  const begun = store?.unusedResources.listBegun(identity) ?? []
  await finishRemovals(tidying, begun)
  if (begun.length > 0) context.printMessage(`Removed ${counted(begun.length, 'document')}, as was begun earlier`)
  return tidying
}

function readDuration(text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs !== undefined) return durationMs
  throw new UsageError('bad-usage', `Cannot read --older-than "${text}": it must be a duration such as 30d`)
}

function findPrunable(
  { settings }: CommandContext,
  { identity }: OpenedService,
  bounds: Parameters<typeof listPrunable>[2],
): UnusedResource[] {
  using store = openStoreReader(settings.stateDir)
  return store ? listPrunable(store, identity, bounds) : []
}

function printPrunable(context: CommandContext, found: readonly UnusedResource[]): void {
  const [oldest] = found
  if (!oldest) {
    context.printMessage('No document is without a file')
    return
  }
  const rows = found.slice(0, MAX_SHOWN).map(({ root, path, reason, endedAt, sizeBytes }) => {
    return [joinPath(root, path), REASONS[reason], formatDay(endedAt), formatSize(sizeBytes)]
  })
  context.printTable(['path', 'why', 'since', 'size'], rows)
  const more = found.length > MAX_SHOWN ? [`and ${found.length - MAX_SHOWN} more`] : []
  const sum = `${describe(found)} without a file, the first since ${formatDay(oldest.endedAt)}`
  for (const line of [...more, sum]) context.print(line)
}

function describe(resources: readonly StoredResource[]): string {
  const bytes = resources.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return `${counted(resources.length, 'document')} (${formatSize(bytes)})`
}

async function isConfirmed(context: CommandContext, what: string): Promise<boolean> {
  if (!context.io.isTerminal.stdin) return false
  const prompts = await openPrompts(context)
  return await prompts.confirm(`Remove ${what} from the library on this computer?`, false)
}

/** Throws UsageError or RequestError for a word that names nothing in the library. */
async function findDocuments(
  { settings, io, signal }: CommandContext,
  { client, identity }: OpenedService,
  word: string,
): Promise<StoredResource[]> {
  using store = openStoreReader(settings.stateDir)
  if (/^[0-9a-f]{32}$/.test(word)) {
    const unused = store?.unusedResources.find(identity, word)
    if (unused) return [unused]
    const { library } = await findResource(client, word, undefined, signal)
    return [{ contentId: 0, resourceId: word, libraryId: library.id, sizeBytes: 0 }]
  }
  const { row, path } = choosePath(settings, store, { word, cwd: io.cwd })
  const found = store?.unusedResources.ofFile(identity, row.id, path) ?? []
  if (found.length > 0) return found
  throw new UsageError(
    'bad-usage',
    `Cannot remove "${escapeText(word)}": the library has no document of this file; name single files`,
  )
}

function toJson({ resourceId, root, path, reason, endedAt, sizeBytes }: UnusedResource) {
  return {
    resource: resourceId,
    path: joinPath(root, path),
    reason: REASONS[reason],
    since: isoTime(endedAt),
    sizeBytes,
  }
}
