import { resolve } from 'node:path'
import { changeStore } from '../../app/ask-daemon.ts'
import { findByName } from '../../app/mirrors/choose-stored.ts'
import {
  creatorOf,
  describeInactive,
  explainInactive,
  listRoster,
  type RosterEntry,
  readRoster,
  readStoredMirrors,
} from '../../app/mirrors/mirror-roster.ts'
import { UsageError } from '../../foundation/errors.ts'
import { counted, escapeText, groupDigits, shellWord } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { INTERACTIVE_RETRY } from '../../rules/retry-delay.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import { forgetMirror } from '../../sync/pin/pin-mirror.ts'
import { nameOrigin } from '../../sync/pin/pinned-service.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { renderFields } from '../render/layout.ts'
import { formatterFor } from '../terminal/cli-io.ts'
import { confirmByName } from '../terminal/prompts.ts'

const MIRROR = {
  type: 'string',
  required: true,
  describe: 'Name of a mirror',
  placeholder: 'MIRROR',
  completes: 'mirrors',
} as const

export const listCommand = defineCommand({
  description: [
    'Lists the mirrors in the configuration, synced or not, and those in the state: created by "shelfd sync DIR", no longer',
    'configured, or of another service. It contacts no service.',
  ].join('\n'),
  examples: [
    ['mirrors list', 'every mirror, its directory, its library, and whether it is synced'],
    ['mirrors list --json', 'the same for scripts'],
  ],
  exits: ['done', 'operator'],
  async run(context) {
    const roster = readRoster(context.settings)
    if (context.json) context.printJson({ mirrors: roster.map((entry) => mirrorJson(entry)) })
    else if (roster.length === 0) context.printMessage('There is no mirror yet: see "shelfd sync --help"')
    else {
      const rows = roster.map((entry) => [entry.name, describeActivity(entry), entry.path, targetOf(entry)])
      context.printTable(['name', 'state', 'directory', 'library'], rows)
    }
  },
})

export const showCommand = defineCommand({
  description:
    'Shows the directory and the library of a mirror and, if it is not synced, why and what to do. "shelfd status" shows its state.',
  positionals: { mirror: MIRROR },
  examples: [['mirrors show papers', 'whether and why it is synced']],
  exits: ['done', 'operator'],
  async run(context, args) {
    const { settings } = context
    using store = openStoreReader(settings.stateDir)
    const entry = findByName(listRoster(settings, store?.mirrors.list() ?? []), args.mirror)
    const holdings = store && readHoldings(store, entry)
    if (context.json) {
      context.printJson({ ...mirrorJson(entry), ...holdings })
      return
    }
    const { row } = entry
    const fields = renderFields({
      name: entry.name,
      state: describeActivity(entry),
      'created by': creatorOf(entry, `the configuration (${settings.configFile})`),
      directory: entry.path,
      library: targetOf(entry),
      service: row && nameOrigin(row.library.origin),
      files: holdings && counted(holdings.files, 'file'),
      resources: holdings && `${groupDigits(holdings.resources)} that no other mirror has`,
      'not synced': explainInactive(entry),
    })
    context.printText(fields)
  },
})

function readHoldings(store: StoreReader, { row }: RosterEntry) {
  return row && store.mirrors.countHoldings({ id: row.id, libraryId: row.library.id })
}

export const forgetCommand = defineCommand({
  description: [
    'Removes what shelfd knows about a mirror from the state: which file is which resource, the history and problems. It first copies the',
    'state. The directory, the library and its resources stay as they are, but shelfd no longer knows the resources, unless another',
    'mirror has the same files. If you mirror into the same path of the library again, shelfd asks for --adopt, looks for every file',
    'there, and sends only those that it does not find, so that nothing is paid for twice.',
    'The next sync starts a configured mirror from the beginning; a running daemon does so at once. In this way you move a mirror from',
    'the library on this computer, or from another service, to the configured service.',
  ].join('\n'),
  positionals: { mirror: MIRROR },
  options: { yes: { type: 'boolean', describe: 'Forget it without being asked for its name' } },
  examples: [
    ['mirrors forget papers', 'asks for the name'],
    ['mirrors forget papers --yes', 'for scripts'],
  ],
  exits: ['done', 'heldBack', 'locked', 'operator'],
  async run(context, args) {
    const { settings, json, printMessage } = context
    const entry = findForgettable(context, args.mirror)
    if (!args.yes) await confirm(context, entry)
    const copy = await changeStore(settings.stateDir, {
      askDaemon: (daemon) => daemon.forget(entry.name),
      changeStore: (store) => forgetMirror(store, entry.name, Date.now()),
    })
    if (json) context.printJson({ forgotten: entry.name, copy })
    else {
      const forgot = `Forgot the mirror "${escapeText(entry.name)}". The state from before is kept in ${escapeText(copy)}`
      const back =
        entry.configured === undefined ? '' : `\nIt comes back with the next sync: ${howToRemove(entry.name)}`
      printMessage(`${forgot}${back}`)
    }
  },
})

function findForgettable({ settings }: CommandContext, name: string): RosterEntry {
  const roster = readRoster(settings)
  const entry = roster.find((each) => each.name === name && each.row) ?? findByName(roster, name)
  if (entry.row) return entry
  throw new UsageError('unknown-mirror', `The mirror "${name}" was never synced: there is nothing to forget`)
}

async function confirm(context: CommandContext, entry: RosterEntry): Promise<void> {
  const { name } = entry
  const format = formatterFor(context.io, 'stderr')
  for (const line of describeLoss(context, entry)) context.io.stderr.write(`${format(escapeText(line))}\n`)
  await confirmByName(context, 'forget the mirror', name, { flag: '--yes' })
}

/** Describes for people what is lost when a mirror is forgotten. */
function describeLoss({ settings }: CommandContext, entry: RosterEntry): string[] {
  using store = openStoreReader(settings.stateDir)
  const { row, configured, name } = entry
  if (!store || !row) return []
  const { files, resources } = store.mirrors.countHoldings({ id: row.id, libraryId: row.library.id })
  const forgotten = `${counted(resources, 'resource')} of the library "${row.library.name}"`
  const stay = resources === 1 ? 'which stays there' : 'which stay there'
  return [
    `${name}: ${row.path} → ${targetOf(entry)}, ${counted(files, 'file')}`,
    `  Nothing is deleted, here or there, and a copy of the state is kept.`,
    ...(resources === 0 ? [] : [`  shelfd forgets ${forgotten}, ${stay} and can be found.`]),
    `  Mirroring into the same path of the library again asks for --adopt, looks for every file there and sends only what is missing.`,
    ...(configured
      ? [`  The next sync starts it from the beginning, a running daemon at once: ${escapeText(howToRemove(name))}.`]
      : []),
  ]
}

function howToRemove(name: string): string {
  return `it is still configured, and "shelfd mirrors remove ${shellWord(name)}" takes it out of the configuration`
}

export const addCommand = defineCommand({
  description: [
    'Checks that the directory can be mirrored, writes a mirror of it into the configuration file, and keeps the comments there. The next',
    'sync sends the files; a running daemon does so at once. With the first mirror, those of "shelfd sync DIR" are written too, because',
    'a configuration that names a mirror replaces them. If the mirror was removed before, it continues where it was.',
  ].join('\n'),
  positionals: { directory: { type: 'string', required: true, describe: 'The directory', placeholder: 'DIR' } },
  options: {
    name: { type: 'string', describe: 'Name of the mirror; by default the name of the directory' },
    library: {
      type: 'string',
      describe: 'Library for its files; on this computer, by default a new one with the name of the mirror',
      completes: 'libraries',
    },
  },
  examples: [
    ['mirrors add ~/Papers', 'into the library on this computer'],
    ['mirrors add ~/Papers --library Research', 'into that library of the service'],
  ],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, { directory, name = '', library = '' }) {
    await using edits = await openEdits(context)
    const chosen = { path: resolve(context.io.cwd, directory), name, library }
    const { revision } = await edits.newMirror({}, context.signal)
    const { problem, mirror } = await edits.checkMirror(chosen, context.signal)
    if (!mirror) throw new UsageError('bad-usage', `Cannot add "${directory}": ${problem?.message}`)
    const { found, isNewLibrary: mayCreateLibrary, ...added } = mirror
    if (mayCreateLibrary && context.settings.service.kind === 'configured') {
      const create = `"shelfd libraries create ${shellWord(mirror.library)}" makes it`
      throw new UsageError(
        'unknown-library',
        `Cannot add "${directory}": there is no library "${mirror.library}"; ${create}`,
      )
    }
    const { message } = await edits.addMirror({ ...chosen, revision, mayCreateLibrary }, context.signal)
    if (context.json) {
      context.printJson({ added, file: context.readSettings().configFile })
      return
    }
    const target = `${mirror.name}: ${mirror.path} → ${mirror.library}:${mirror.remotePath}`
    const extent = `${found.isWhole ? '' : 'more than '}${counted(found.files, 'file')}, ${formatSize(found.bytes)}`
    context.printMessage(`${escapeText(target)} (${extent})\n${escapeText(message)}`)
  },
})

export const removeCommand = defineCommand({
  description: [
    'Removes a mirror from the configuration file and keeps the comments there. The directory and what was sent stay as they are. The',
    'state knows the mirror until "shelfd mirrors forget", so that nothing is sent twice if it is added again.',
  ].join('\n'),
  positionals: { mirror: MIRROR },
  examples: [['mirrors remove papers', 'send no more files of it']],
  exits: ['done', 'failed'],
  async run(context, { mirror }) {
    const { mirrors } = context.settings
    if (!mirrors.some(({ name }) => name === mirror)) {
      const forget = `"shelfd mirrors forget ${shellWord(mirror)}" forgets one that no configuration names`
      throw new UsageError('unknown-mirror', `The configuration names no mirror "${mirror}"; ${forget}`)
    }
    await using edits = await openEdits(context)
    const { revision } = await edits.rules({ mirror }, context.signal)
    const { message } = await edits.removeMirror({ mirror, revision }, context.signal)
    if (context.json) context.printJson({ removed: mirror })
    else context.printMessage(escapeText(message))
  },
})

/** Returns the functions with which the dashboard, too, changes mirrors in the configuration file. */
async function openEdits({ io, settings, readSettings, logger, redactor, signal, onOutage }: CommandContext) {
  const { createMirrorEdits } = await import('../../app/mirrors/edit-mirrors.ts')
  const { ownDirectoriesOf } = await import('../../app/open-engine.ts')
  const { createLazyService } = await import('../../app/service-client/open-service.ts')
  const { stateDir } = settings
  const service = createLazyService(settings, { ...io, logger, redactor, signal, onOutage, retry: INTERACTIVE_RETRY })
  const edits = createMirrorEdits({
    ...io,
    stateDir,
    ownDirectories: ownDirectoriesOf(settings),
    readSettings,
    storedMirrors: () => readStoredMirrors(stateDir),
    service: () => service,
  })
  return { ...edits, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

function mirrorJson(entry: RosterEntry) {
  const { name, path, row, configured, activity } = entry
  return {
    name,
    path,
    library: { id: row?.library.remoteId ?? null, name: row?.library.name ?? configured?.library ?? null },
    remotePath: row?.remotePath ?? configured?.remotePath ?? null,
    /** Null for a mirror that was never synced. */
    service: row?.library.origin ?? null,
    isConfigured: configured !== undefined,
    isAdHoc: configured === undefined && row?.isAdHoc === true,
    isSynced: row !== undefined,
    activity,
    reason: describeInactive(entry) ?? null,
    wayOut: explainInactive(entry) ?? null,
  }
}

function targetOf({ row, configured }: RosterEntry): string {
  return `${row?.library.name ?? configured?.library}:${row?.remotePath ?? configured?.remotePath}`
}

function describeActivity(entry: RosterEntry): string {
  return describeInactive(entry) ?? entry.activity
}
