import { notFound } from '../http/api-error.ts'
import { endpoint } from '../http/endpoint.ts'
import { requireAbility } from '../http/require-access.ts'

export const deleteLibrary = endpoint({
  route: 'deleteLibrary',
  summary: 'Delete a library and all of its resources',
  description: 'Nobody sees them any more once this is answered; the room that they take is given back piece by piece.',
  answers: { 204: { description: 'Deleted' } },
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
