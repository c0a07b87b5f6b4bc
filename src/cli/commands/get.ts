import { dirname, join, resolve } from 'node:path'
import { isMissing } from '../../app/files/paths-on-disk.ts'
import { getDocuments, listWanted } from '../../app/get-documents.ts'
import { nothingMirrored } from '../../app/mirrors/choose-known.ts'
import { choosePlace, findPlace } from '../../app/mirrors/choose-place.ts'
import { openReader } from '../../app/open-engine.ts'
import { openWithSystem } from '../../app/open-with-system.ts'
import { UsageError } from '../../foundation/errors.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { resourceOfHit } from '../../store/last-search.ts'
import { openStoreReader, type StoreReader } from '../../store/open-store.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { warnOfForeignDirectory } from '../warn-of-foreign-directory.ts'

export const command = defineCommand({
  description: [
    'Downloads what was sent and writes it to files: a mirror as a directory of its name, a directory, a file, or the resource of',
    'an earlier version. Each is compared with the hash under which it was sent. A file that exists is never replaced. Where no',
    'file is left at a path, all that ever were there and went away are written, the last version of each.',
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
      for (const word of args.what) findPlace(context.settings, undefined, { word, cwd })
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
      const failed = problems.length > 0 ? `, ${problems.length} not` : ''
      context.print(`${counted(files, 'file')}, ${formatSize(bytes)}, written to ${directory}${more}${failed}`)
    }
    return problems.length > 0 ? 'failed' : 'done'
  },
})

export const openCommand = defineCommand({
  description: [
    'Opens a file of a mirror with the program that this computer has for it, and prints its path: a hit of the last search by its',
    'number, a resource by its identifier, or a path on the disk, of a mirror or of a library. Without a desktop it only prints the path.',
  ].join('\n'),
  positionals: {
    what: { type: 'string', required: true, placeholder: 'HIT|PATH', describe: 'The number of a hit, or a path' },
  },
  options: { folder: { type: 'boolean', describe: 'Open the directory that it lies in' } },
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

/** Throws UsageError. */
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
      `No file here has the text of ${hit}; "shelfd get ${ofHit ?? what}" writes it to one`,
    )
  }
  const { row, path } = choosePlace(settings, store, { word: what, cwd: io.cwd })
  return join(row.path, path)
}
