import { z } from 'zod'
import { notFound } from '../http/api-error.ts'
import { endpoint, queryEndpoint } from '../http/endpoint.ts'
import { exactResource } from '../http/exact-records.ts'
import { integerInput } from '../http/inputs.ts'
import { requireLibrary, requireResource } from '../http/require-access.ts'
import { assetBody, resourceBody, videoAssets } from './resource-body.ts'

const MAX_ASSETS = 20
const EXCERPT_LENGTH = 200

export const showResource = queryEndpoint({
  route: 'showResource',
  summary: 'Show a resource with the state of its processing',
  description: [
    `\`assets\` holds up to ${MAX_ASSETS} texts, starting at the \`position\` in \`assets_from\`. If the file has moving pictures, the`,
    'first answer begins with the video. `next_assets_from` is the `position` of the next text, null at the end.',
    `Each text is cut to ${EXCERPT_LENGTH} characters; with \`asset_text=whole\` it is complete.`,
  ].join(' '),
  query: z.object({
    assets_from: integerInput({ min: 0, max: 999_999_999, byDefault: 0 }),
    asset_text: z.enum(['excerpt', 'whole']).default('excerpt'),
  }),
  responses: { 200: { description: 'The resource', shape: exactResource } },
  errors: [401, 403, 404, 422],
  handle(call) {
    const { tables } = call.service
    const library = requireLibrary(call, 'read')
    const resource = requireResource(call)
    if (resource.libraryId !== library.id) throw notFound('Resource')
    const { assets_from: from, asset_text: length } = call.query
    const found = tables.passages.from(resource.id, from, MAX_ASSETS + 1)
    const texts = found.slice(0, MAX_ASSETS).map((passage) => {
      return assetBody(resource, passage, length === 'whole' ? passage.text.length : EXCERPT_LENGTH)
    })
    const assets = from === 0 ? [...videoAssets(resource), ...texts] : texts
    const record = resourceBody(tables, resource, assets, from === 0 ? found[0] : undefined)
    return { ...record, next_assets_from: found[MAX_ASSETS]?.ordinal ?? null }
  },
})

export const deleteResource = endpoint({
  route: 'deleteResource',
  summary: 'Delete a resource',
  description: [
    'It is invisible as soon as this is answered; its disk space is freed afterwards, in small steps. A later upload of the same content',
    'makes a new resource. The interface defines the right to delete resources but no request; this one is an addition of this service.',
  ].join(' '),
  responses: { 204: { description: 'Deleted' } },
  errors: [401, 403, 404, 507],
  async handle(call) {
    const { service, reply, id } = call
    const library = requireLibrary(call, 'resource.delete')
    const isDeleted = await service.writes.write(() => {
      const resource = service.tables.resources.byPublicId(id('resource'))
      if (resource?.libraryId !== library.id) return false
      service.tables.deletedLibraries.deleteResource(resource.id, service.clock.nowMs())
      return true
    })
    if (!isDeleted) throw notFound('Resource')
    service.removal.wake()
    return reply.code(204).send()
  },
})
