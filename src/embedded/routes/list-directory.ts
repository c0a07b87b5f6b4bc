import { z } from 'zod'
import { PAGE_LIMITS } from '../../contract/routes.ts'
import type { ListedFile } from '../database/locations-table.ts'
import type { Tables } from '../database/open-tables.ts'
import { notFound } from '../http/api-error.ts'
import { question } from '../http/endpoint.ts'
import { exactDirectoryPage } from '../http/exact-records.ts'
import { cursorInput, integerInput, libraryPathInput } from '../http/inputs.ts'
import { requireLibrary } from '../http/require-access.ts'

/** The last name listed of each section; null when the section has ended. */
const position = z.object({ folder: z.string().nullable(), file: z.string().nullable() })
type Position = z.infer<typeof position>

const START: Position = { folder: '', file: '' }

export const listDirectory = question({
  route: 'listDirectory',
  summary: 'List the immediate children of a library path',
  description: [
    'Folders by `name`, files by `filename`, each in code point order. Positions are names, so that entries created meanwhile',
    'neither repeat nor hide others. A cursor that was not given for this very path is answered with 422.',
  ].join(' '),
  query: z.object({
    path: libraryPathInput.default('/'),
    limit: integerInput({ min: 1, ...PAGE_LIMITS.directory }),
    cursor: cursorInput,
  }),
  answers: { 200: { description: 'A page of the directory', shape: exactDirectoryPage } },
  errors: [401, 403, 404, 422],
  handle(call) {
    const { service, query } = call
    const { tables, cursors } = service
    const library = requireLibrary(call, 'read')
    const directory = tables.directories.byPath(library.id, query.path)
    if (!directory) throw notFound('Directory')
    const listing = `directory ${directory.id}`
    const after = query.cursor === undefined ? START : cursors.read(listing, query.cursor, position)
    const { next, ...entries } = readPage(tables, directory.id, after, query.limit)
    const nextCursor = next ? cursors.write(listing, next) : null
    return { ...entries, limit: query.limit, next_cursor: nextCursor, truncated: nextCursor !== null }
  },
})

function readPage({ directories, locations }: Tables, directoryId: number, after: Position, limit: number) {
  const folders = after.folder === null ? [] : directories.namesAfter(directoryId, after.folder, limit + 1)
  const files = after.file === null ? [] : locations.listAfter(directoryId, after.file, limit + 1)
  return {
    folders: folders.slice(0, limit).map(folderBody),
    files: files.slice(0, limit).map(fileBody),
    next: nextPosition(folders, files, limit),
  }
}

/** Undefined when both sections have ended. Each list holds one entry more than the page shows, if there is one. */
function nextPosition(folders: readonly string[], files: readonly ListedFile[], limit: number): Position | undefined {
  const folder = folders.length > limit ? (folders[limit - 1] ?? null) : null
  const file = files.length > limit ? (files[limit - 1]?.filename ?? null) : null
  return folder === null && file === null ? undefined : { folder, file }
}

function folderBody(name: string) {
  return { name, overview: null, organization_locked: false, is_archive: false }
}

function fileBody({ id, title, slug, filename, mimeType }: ListedFile) {
  return { id, title, slug, filename, mime_type: mimeType, organization_locked: false }
}
