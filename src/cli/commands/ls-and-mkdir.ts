import { parseLibraryTarget, requireLibrary } from '../../app/library-target.ts'
import type { FileEntry, FolderEntry } from '../../contract/records.ts'
import { UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { kindName } from '../../rules/without-text.ts'
import { defineCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { ASKS_SERVICE } from '../global-options.ts'

export const lsCommand = defineCommand({
  positionals: {
    target: {
      type: 'string',
      required: true,
      placeholder: 'LIBRARY[:/path]',
      completes: 'libraries',
      describe: 'Library and directory, / by default',
    },
  },
  ...ASKS_SERVICE,
  examples: [
    ['ls Research', 'the top of the library'],
    ['ls Research:/.inbox --json', 'what has been uploaded, as {folders, files}'],
  ],
  async run(context, args) {
    const target = parseLibraryTarget(args.target)
    await using service = await context.openService()
    const library = await requireLibrary(service.client, target.library, context.signal)
    const pages = await Array.fromAsync(service.client.listDirectory(library.id, target.path ?? '/', context.signal))
    const folders = pages.flatMap((page) => page.folders)
    const files = pages.flatMap((page) => page.files)
    if (context.json) context.printJson({ folders, files })
    else printEntries(context, [...folders.map(folderRow), ...files.map(fileRow)])
  },
})

/** Prints a table of entries; if no entry has a title, without that column, so that names have more room. */
function printEntries({ printTable }: CommandContext, rows: readonly (readonly [string, string, string, string])[]) {
  const isTitled = rows.some(([, title]) => title !== '')
  const shown = rows.map(([name, title, ...others]) => (isTitled ? [name, title, ...others] : [name, ...others]))
  printTable(isTitled ? ['name', 'title', 'type', 'id'] : ['name', 'type', 'id'], shown)
}

function folderRow({ name, overview }: FolderEntry) {
  return [`${name}/`, overview ?? '', 'folder', ''] as const
}

/** Returns the row of a file, with the name of its kind instead of a MIME type that is too long for the column. */
function fileRow({ filename, title, mime_type, id }: FileEntry) {
  return [
    filename,
    title === filename ? '' : title,
    mime_type.length > MAX_TYPE_LENGTH ? kindName(mime_type) : mime_type,
    id,
  ] as const
}

const MAX_TYPE_LENGTH = 16

export const mkdirCommand = defineCommand({
  description: 'Needs the right update on the library. An existing directory is not an error.',
  positionals: {
    target: {
      type: 'string',
      required: true,
      placeholder: 'LIBRARY:/path',
      completes: 'libraries',
      describe: 'Library and directory',
    },
  },
  options: { parents: { type: 'boolean', alias: 'p', describe: 'Create the directories above it too' } },
  ...ASKS_SERVICE,
  examples: [['mkdir -p Research:/Papers/2026', 'create /Papers and /Papers/2026']],
  async run(context, { target, parents }) {
    const { library: idOrName, path } = parseLibraryTarget(target)
    if (path === undefined || path === '/')
      throw new UsageError('bad-usage', `Cannot create "${target}": it names no directory`)
    await using service = await context.openService()
    const library = await requireLibrary(service.client, idOrName, context.signal)
    const results: { path: string; result: 'created' | 'existing' }[] = []
    for (const directory of parents ? withParents(path) : [path]) {
      const result = await service.client.createDirectory(library.id, directory, context.signal)
      results.push({ path: directory, result })
    }
    if (context.json) context.printJson({ library: library.id, directories: results })
    else for (const { path: created, result } of results) context.print(`${result}  ${escapeText(created)}`)
  },
})

/** Splits `/a/b/c` into `/a`, `/a/b`, `/a/b/c`. */
function withParents(path: string): string[] {
  const segments = path.split('/').slice(1)
  return segments.map((_, index) => `/${segments.slice(0, index + 1).join('/')}`)
}
