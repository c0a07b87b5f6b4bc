import { z } from 'zod'
import { API_PREFIX, fillPath, ROUTES } from '../../contract/routes.ts'
import { invalid } from '../http/api-error.ts'
import { endpoint, originOf } from '../http/endpoint.ts'
import { exactLibrary } from '../http/exact-records.ts'
import { requireAbility } from '../http/require-access.ts'
import { newIdentifier } from '../identifiers.ts'
import { libraryBody } from './show-library.ts'

export const createLibrary = endpoint({
  route: 'createLibrary',
  summary: 'Create a library',
  description: [
    'Names are unique; a name in use is answered with 422 and `errors.name`. Every library has the directory `/.inbox` from',
    'its start. Creating a library grants no access to it; credentials with `library.all.*` abilities have theirs anyway.',
  ].join(' '),
  body: z.object({
    name: z.string().trim().min(1).max(255),
    overview: z.string().max(10_000).nullable().default(null),
  }),
  answers: {
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
