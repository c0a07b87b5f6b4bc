import { parseLibraryTarget } from '../../../app/libraries/library-target.ts'
import { requireLibrary } from '../../../app/libraries/require-library.ts'
import type { DirectoryPage, FileEntry, FolderEntry } from '../../../contract/records.ts'
import { defineCommand } from '../../command.ts'

export const command = defineCommand({
  positionals: {
    target: {
      type: 'string',
      required: true,
      placeholder: 'LIBRARY[:/path]',
      completes: 'libraries',
      describe: 'Library and directory, / by default',
    },
  },
  options: {},
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [
    ['ls Research', 'the top of the library'],
    ['ls Research:/.inbox --json', 'what has been uploaded, as {folders, files}'],
  ],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, args) {
    const target = parseLibraryTarget(args.target)
    await using service = await context.openService()
    const library = await requireLibrary(service.client, target.library, context.signal)
    const pages = await Array.fromAsync(service.client.listDirectory(library.id, target.path ?? '/', context.signal))
    const { folders, files } = mergePages(pages)
    if (context.json) context.printJson({ folders, files })
    else context.printTable(['kind', 'name', 'title', 'type', 'id'], [...folders.map(folderRow), ...files.map(fileRow)])
    return 'done'
  },
})

function mergePages(pages: readonly DirectoryPage[]): { folders: FolderEntry[]; files: FileEntry[] } {
  return { folders: pages.flatMap((page) => page.folders), files: pages.flatMap((page) => page.files) }
}

function folderRow({ name, overview }: FolderEntry): string[] {
  return ['folder', `${name}/`, overview ?? '', '', '']
}

function fileRow({ filename, title, mime_type, id }: FileEntry): string[] {
  return ['file', filename, title, mime_type, id]
}
