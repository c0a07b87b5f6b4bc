import { z } from 'zod'
import type { LibraryRecord } from '../../contract/records.ts'
import { API_PREFIX, fillPath, PAGE_LIMITS, ROUTES } from '../../contract/routes.ts'
import { isoTime } from '../../foundation/text/times.ts'
import type { Grant } from '../access/grant.ts'
import type { LibraryRow } from '../database/libraries-table.ts'
import type { Tables } from '../database/open-tables.ts'
import { invalid, notFound } from '../http/api-error.ts'
import { endpoint, originOf, queryEndpoint } from '../http/endpoint.ts'
import { exactAccess, exactLibrary, exactLibraryPage } from '../http/exact-records.ts'
import { cursorInput, integerInput } from '../http/inputs.ts'
import { requireAbility, requireLibrary } from '../http/require-access.ts'
import { TENANT_ID } from '../http/signing.ts'
import { newIdentifier } from '../identifiers.ts'

const OWNER = { id: 1, name: 'Owner', email: 'owner@library.invalid' }

export const checkAccess = endpoint({
  route: 'checkAccess',
  summary: 'Verify the credential and show what it allows',
  description: '`libraries` lists every library on which the credential has at least one right.',
  responses: { 200: { description: 'The access context', shape: exactAccess } },
  errors: [401, 403],
  handle({ service, grant }) {
    const libraries = service.tables.libraries
      .all()
      .map((library) => ({ id: library.publicId, name: library.name, access: grant?.accessTo(library) ?? [] }))
    return {
      tenant: { id: TENANT_ID, name: 'Embedded library', slug: `embedded-${service.instanceId.slice(-8)}` },
      user: OWNER,
      grant_type: 'access_token',
      interfaces: grant?.interfaces ?? [],
      abilities: grant?.abilities ?? [],
      libraries: libraries.filter(({ access }) => access.length > 0),
    }
  },
})

const LISTING = 'libraries'

export const listLibraries = queryEndpoint({
  route: 'listLibraries',
  summary: 'List the libraries that the credential can read',
  description: 'In the order of their creation. A cursor of another listing is answered with 422.',
  query: z.object({ limit: integerInput({ min: 1, ...PAGE_LIMITS.libraries }), cursor: cursorInput }),
  responses: { 200: { description: 'A page of libraries', shape: exactLibraryPage } },
  errors: [401, 403, 422],
  handle({ service, grant, query: { limit, cursor } }) {
    const after = cursor === undefined ? 0 : service.cursors.read(LISTING, cursor, z.int())
    const found = readableAfter(service.tables, grant, after, limit + 1)
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    const nextCursor = found.length > limit && last ? service.cursors.write(LISTING, last.id) : null
    const items = shown.map((library) => ({
      id: library.publicId,
      name: library.name,
      access: grant?.accessTo(library) ?? [],
    }))
    return { items, limit, next_cursor: nextCursor, truncated: nextCursor !== null }
  },
})

function readableAfter(tables: Tables, grant: Grant | undefined, after: number, count: number): LibraryRow[] {
  const found: LibraryRow[] = []
  let last = after
  for (;;) {
    const batch = tables.libraries.after(last, count)
    found.push(...batch.filter((library) => grant?.accessTo(library).includes('read')))
    last = batch.at(-1)?.id ?? last
    if (found.length >= count || batch.length < count) return found.slice(0, count)
  }
}

export const createLibrary = endpoint({
  route: 'createLibrary',
  summary: 'Create a library',
  description: [
    'Names are unique; a name in use is answered with 422 and `errors.name`. Every new library has the directory `/.inbox`.',
    'Creating a library grants no access to it, but credentials with `library.all.*` abilities have access to every library.',
  ].join(' '),
  body: z.object({
    name: z.string().trim().min(1).max(255),
    overview: z.string().max(10_000).nullable().default(null),
  }),
  responses: {
    201: {
      description: 'Created; `Location` is its absolute URL',
      shape: exactLibrary,
      headers: { location: { type: 'string', format: 'uri' } },
    },
  },
  errors: [401, 403, 408, 413, 415, 422, 507],
  async handle(call) {
    const { service, body, request, reply } = call
    requireAbility(call, 'library.create')
    const { libraries, directories } = service.tables
    const nowMs = service.clock.nowMs()
    const library = await service.writes.write(() => {
      if (libraries.byName(body.name)) return undefined
      const id = libraries.insert({ publicId: newIdentifier(nowMs), ...body, createdAtMs: nowMs })
      directories.insertRoot(id)
      return libraries.byId(id)
    })
    if (!library) throw invalid('name', 'The name is in use')
    const path = fillPath(API_PREFIX + ROUTES.showLibrary.path, { library: library.publicId })
    reply.code(201).header('location', originOf(service, request) + path)
    return libraryBody(library)
  },
})

export const showLibrary = endpoint({
  route: 'showLibrary',
  summary: 'Show a library',
  description: 'If the credential may not read the library, the answer is 403.',
  responses: { 200: { description: 'The library', shape: exactLibrary } },
  errors: [401, 403, 404],
  handle: (call) => libraryBody(requireLibrary(call, 'read')),
})

function libraryBody(library: LibraryRow): LibraryRecord {
  return {
    id: library.publicId,
    name: library.name,
    overview: library.overview,
    created_at: isoTime(library.createdAtMs),
    updated_at: isoTime(library.updatedAtMs),
  }
}

export const deleteLibrary = endpoint({
  route: 'deleteLibrary',
  summary: 'Delete a library and all of its resources',
  description: 'They are invisible as soon as this is answered; their disk space is freed afterwards, in small steps.',
  responses: { 204: { description: 'Deleted' } },
  errors: [401, 403, 404, 507],
  async handle(call) {
    const { service, reply, id } = call
    requireAbility(call, 'library.delete')
    const { libraries } = service.tables
    const isDeleted = await service.writes.write(() => {
      const library = libraries.byPublicId(id('library'))
      return library !== undefined && libraries.remove(library.id)
    })
    if (!isDeleted) throw notFound('Library')
    service.removal.wake()
    return reply.code(204).send()
  },
})
