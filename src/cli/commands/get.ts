import { dirname, join, resolve } from 'node:path'
import { isMissing } from '../../app/files/paths-on-disk.ts'
import { warnOfForeignDirectory } from '../../app/files/user-files.ts'
import { getDocuments, listWanted } from '../../app/get-documents.ts'
import { choosePath, findPath } from '../../app/mirrors/choose-path.ts'
import { nothingMirrored } from '../../app/mirrors/choose-stored.ts'
import { openReader } from '../../app/open-engine.ts'
import { openWithSystem } from '../../app/open-with-system.ts'
import { UsageError } from '../../foundation/errors.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { resourceOfHit } from '../../store/last-search.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'

export const command = defineCommand({
  description: [
    'Downloads what was sent and writes it to files: a mirror, which becomes a directory of its name, a directory, a file, or the',
    'resource of an earlier version. Each file is compared with the hash of what was sent. An existing file is never replaced. If no',
    'file is left at a path or below it, the last version of each file that was there is written.',
  ].join('\n'),
  positionals: {
    what: {
      type: 'string',
      array: true,
      required: true,
      completes: 'mirrors',
      describe: 'A mirror, a path on the disk or as shelfd prints it, or the identifier of a resource',
    },
  },
  options: { to: { type: 'string', placeholder: 'DIR', describe: 'The directory to write to; by default this one' } },
  examples: [
    ['get papers --to /mnt/restored', 'all files of a mirror, into /mnt/restored/papers'],
    ['get ~/Papers/draft.md --to /tmp', 'one file, also when it is gone from the disk'],
    ['get 01a20445d580efd492107b864fe1a18e', 'an earlier version, by the identifier that "shelfd why" shows'],
  ],
  exits: ['done', 'failed', 'temporary', 'refused', 'operator'],
  async run(context, args) {
    await using reader = openReader(context.settings, {
      ...context.io,
      logger: context.logger,
      redactor: context.redactor,
      onOutage: context.onOutage,
    })
    const { cwd } = context.io
    if (!reader.store) {
      for (const word of args.what) findPath(context.settings, undefined, { word, cwd })
      throw nothingMirrored()
    }
    const reportContext = reader.contextFor(reader.store)
    const documents = args.what.flatMap((word) => listWanted(reportContext, context.settings, { word, cwd }))
    const directory = resolve(cwd, args.to ?? '.')
    const show = (done: number) => context.showWait(`getting files: ${done} of ${documents.length}`)
    show(0)
    const got = await getDocuments(reportContext, directory, documents, ({ files, present, problems }) =>
      show(files + present + problems.length),
    )
    const { files, bytes, present, problems } = got
    await warnOfForeignDirectory(context.printMessage, directory)
    if (context.json) context.printJson({ to: directory, files, bytes, present, problems })
    else {
      for (const { path, message } of problems) context.print(escapeText(`${path}: ${message}`))
      const more = present > 0 ? `, ${present} there already` : ''
      const failed = problems.length > 0 ? `, ${problems.length} failed` : ''
      context.print(`${counted(files, 'file')}, ${formatSize(bytes)}, written to ${directory}${more}${failed}`)
    }
    return problems.length > 0 ? 'failed' : 'done'
  },
})

export const openCommand = defineCommand({
  description: [
    'Opens a file of a mirror in its program, and prints its path. Name a hit of the last search by its number, a resource by its',
    'identifier, or a path: on the disk, in a mirror or in a library. Without a desktop it only prints the path.',
  ].join('\n'),
  positionals: {
    what: { type: 'string', required: true, placeholder: 'HIT|PATH', describe: 'The number of a hit, or a path' },
  },
  options: { folder: { type: 'boolean', describe: 'Open the directory of the file' } },
  examples: [
    ['open 1', 'the first hit of the last search'],
    ['open 3 --folder', 'the directory of the third one'],
    ['open ~/Papers/draft.md', 'a file of a mirror'],
  ],
  exits: ['done', 'operator'],
  async run(context, { what, folder }) {
    const { settings, io } = context
    using store = openStoreReader(settings.stateDir)
    if (!store) throw nothingMirrored()
    const file = findFile(context, store, what)
    if (isMissing(file))
      throw new UsageError('bad-usage', `"${file}" is not there any more; "shelfd get" brings back what was sent`)
    const path = folder ? dirname(file) : file
    const isOpened = await openWithSystem(path, io.env)
    if (context.json) context.printJson({ path, isOpened })
    else context.print(path)
    if (!isOpened && !context.json)
      context.printMessage('Nothing was opened: there is no desktop here, or no program for it')
  },
})

/** Returns the path of the file that a word names. Throws UsageError if it names none. */
function findFile({ settings, io }: CommandContext, store: StoreReader, what: string): string {
  const ofHit = /^\d{1,4}$/.test(what) ? resourceOfHit(settings.stateDir, Number(what)) : undefined
  const origins = new Set(store.mirrors.list().map(({ library }) => library.origin))
  const sent = [...origins].flatMap((origin) => store.sentResources.find(origin, ofHit ?? what, null) ?? [])
  const [file] = sent.flatMap(({ files }) => files)
  if (file) return join(file.root, file.path)
  if (ofHit !== undefined || sent.length > 0) {
    const hit = ofHit === undefined ? `the resource "${what}"` : `hit ${what}`
    throw new UsageError(
      'bad-usage',
      `No file of a mirror has the content of ${hit}; "shelfd get ${ofHit ?? what}" writes it to a file`,
    )
  }
  const { row, path } = choosePath(settings, store, { word: what, cwd: io.cwd })
  return join(row.path, path)
}
