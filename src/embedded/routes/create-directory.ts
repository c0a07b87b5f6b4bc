import { z } from 'zod'
import { nameOfLibraryPath, parentLibraryPath } from '../../contract/library-path.ts'
import { API_PREFIX, fillPath, ROUTES } from '../../contract/routes.ts'
import type { DirectoryRow } from '../database/directories-table.ts'
import type { Tables } from '../database/open-tables.ts'
import { conflict, notFound } from '../http/api-error.ts'
import { endpoint } from '../http/endpoint.ts'
import { exactDirectory } from '../http/exact-records.ts'
import { libraryPathInput } from '../http/inputs.ts'
import { requireLibrary } from '../http/require-access.ts'

export const createDirectory = endpoint({
  route: 'createDirectory',
  summary: 'Create a directory at an absolute path',
  description: [
    'The parent must exist (404 otherwise); a directory that exists, the root included, is answered with 409.',
    '`parent_id` is null for directories of the root.',
  ].join(' '),
  body: z.object({ path: libraryPathInput }),
  answers: {
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
