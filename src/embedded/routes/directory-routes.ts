import { z } from 'zod'
import { nameOfLibraryPath, parentLibraryPath } from '../../contract/library-path.ts'
import { API_PREFIX, fillPath, PAGE_LIMITS, ROUTES } from '../../contract/routes.ts'
import type { DirectoryRow } from '../database/directories-table.ts'
import type { ListedFile } from '../database/locations-table.ts'
import type { Tables } from '../database/open-tables.ts'
import { conflict, notFound } from '../http/api-error.ts'
import { endpoint, queryEndpoint } from '../http/endpoint.ts'
import { exactDirectory, exactDirectoryPage } from '../http/exact-records.ts'
import { cursorInput, integerInput, libraryPathInput } from '../http/inputs.ts'
import { requireLibrary } from '../http/require-access.ts'

/** The last listed name of the folders and of the files; null when all of them are listed. */
const position = z.object({ folder: z.string().nullable(), file: z.string().nullable() })
type Position = z.infer<typeof position>

const START: Position = { folder: '', file: '' }

export const listDirectory = queryEndpoint({
  route: 'listDirectory',
  summary: 'List the immediate children of a library path',
  description: [
    'Folders by `name`, files by `filename`, each in code point order. A cursor holds names, so that entries created between two pages',
    'neither repeat nor hide others. A cursor of another path is answered with 422.',
  ].join(' '),
  query: z.object({
    path: libraryPathInput.default('/'),
    limit: integerInput({ min: 1, ...PAGE_LIMITS.directory }),
    cursor: cursorInput,
  }),
  responses: { 200: { description: 'A page of the directory', shape: exactDirectoryPage } },
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

/** Returns where the next page continues, undefined if there is none. The lists hold one entry more than the page, if there is one. */
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

export const createDirectory = endpoint({
  route: 'createDirectory',
  summary: 'Create a directory at an absolute path',
  description: [
    'The parent must exist (404 otherwise). If the directory exists already, which the root always does, the answer is 409.',
    '`parent_id` is null for directories of the root.',
  ].join(' '),
  body: z.object({ path: libraryPathInput }),
  responses: {
    201: {
      description: 'Created; `Location` is the relative URL of its contents',
      shape: exactDirectory,
      headers: { location: { type: 'string', format: 'uri-reference' } },
    },
  },
  errors: [401, 403, 404, 408, 409, 413, 415, 422, 507],
  async handle(call) {
    const { service, body, reply } = call
    const library = requireLibrary(call, 'update')
    const created = await service.writes.write(() => insertDirectory(service.tables, library.id, body.path))
    if (created === 'no-parent') throw notFound('Parent directory')
    if (created === 'exists') throw conflict('The directory exists already')
    const path = fillPath(API_PREFIX + ROUTES.listDirectory.path, { library: library.publicId })
    reply.code(201).header('location', `${path}?path=${encodeURIComponent(body.path)}`)
    return directoryBody(created)
  },
})

function insertDirectory({ directories }: Tables, libraryId: number, path: string) {
  if (directories.byPath(libraryId, path)) return 'exists'
  const parent = directories.byPath(libraryId, parentLibraryPath(path))
  if (!parent) return 'no-parent'
  const directory = { libraryId, parentId: parent.id, path, name: nameOfLibraryPath(path) }
  return { id: directories.insert(directory), parent, name: directory.name }
}

function directoryBody({ id, parent, name }: { id: number; parent: DirectoryRow; name: string }) {
  return {
    id: directoryIdentifier(id),
    name,
    overview: null,
    parent_id: parent.parentId === null ? null : directoryIdentifier(parent.id),
    organization_locked: false,
    is_archive: false,
  }
}

function directoryIdentifier(id: number): string {
  return `node-${id}`
}
