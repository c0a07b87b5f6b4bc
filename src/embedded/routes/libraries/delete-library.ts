import type { Tables } from '../../database/open-tables.ts'
import { notFound } from '../../http/api-error.ts'
import { endpoint } from '../../http/endpoint.ts'
import { requireAbility } from '../../http/require-access.ts'
import { MAX_SMALL_BYTES } from '../../storage/content-receiver.ts'

/** 4.9 */
export const deleteLibrary = endpoint({
  route: 'deleteLibrary',
  section: '4.9',
  summary: 'Delete a library and all of its resources',
  answers: { 204: { description: 'Deleted' } },
  errors: [401, 403, 404],
  async handle(call) {
    const { service, reply, id } = call
    requireAbility(call, 'library.delete')
    const orphans = await service.writes.write(() => removeLibrary(service.tables, id('library')))
    if (!orphans) throw notFound('Library')
    for (const sha256 of orphans) {
      if (!service.tables.resources.usesContent(sha256)) service.files.remove(sha256)
    }
    return reply.code(204).send()
  },
})

/** Deletes the library; returns the hashes of large contents that no resource uses any more, undefined without such a library. */
function removeLibrary(tables: Tables, publicId: string): Buffer[] | undefined {
  const library = tables.libraries.byPublicId(publicId)
  if (!library) return undefined
  const contents = tables.resources.contentsAbove(library.id, MAX_SMALL_BYTES)
  tables.passageWords.removeOfLibrary(library.id)
  tables.libraries.remove(library.id)
  return contents.filter((sha256) => !tables.resources.usesContent(sha256))
}
