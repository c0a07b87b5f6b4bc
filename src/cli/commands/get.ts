import { resolve } from 'node:path'
import { getDocuments, listWanted } from '../../app/get-documents.ts'
import { nothingMirrored } from '../../app/mirrors/choose-known.ts'
import { findPlace } from '../../app/mirrors/choose-place.ts'
import { openReader } from '../../app/open-engine.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { defineCommand } from '../command.ts'
import { sayWhoseDirectory } from '../say-whose-directory.ts'

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
    await sayWhoseDirectory(context.printMessage, directory)
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
