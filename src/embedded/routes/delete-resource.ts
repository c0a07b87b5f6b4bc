import { notFound } from '../http/api-error.ts'
import { endpoint } from '../http/endpoint.ts'
import { requireLibrary } from '../http/require-access.ts'

export const deleteResource = endpoint({
  route: 'deleteResource',
  summary: 'Delete a resource',
  description: [
    'Nobody finds or reads it any more once this is answered; the room that it takes is given back piece by piece. A later upload of',
    'the same content makes a new resource. The interface has the right for it, but no request: this one is of this library alone.',
  ].join(' '),
  answers: { 204: { description: 'Deleted' } },
  errors: [401, 403, 404, 507],
  async handle(call) {
    const { service, reply, id } = call
    const library = requireLibrary(call, 'resource.delete')
    const isDeleted = await service.writes.write(() => {
      const resource = service.tables.resources.byPublicId(id('resource'))
      if (resource?.libraryId !== library.id) return false
      service.tables.deletedLibraries.takeIn(resource.id, service.clock.nowMs())
      return true
    })
    if (!isDeleted) throw notFound('Resource')
    service.removal.wake()
    return reply.code(204).send()
  },
})
