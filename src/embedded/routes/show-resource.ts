import { z } from 'zod'
import { notFound } from '../http/api-error.ts'
import { question } from '../http/endpoint.ts'
import { exactResource } from '../http/exact-records.ts'
import { integerInput } from '../http/inputs.ts'
import { requireLibrary, requireResource } from '../http/require-access.ts'
import { assetBody, resourceBody, videoAssets } from './resource-body.ts'

const MAX_ASSETS = 20
const EXCERPT_LENGTH = 200

export const showResource = question({
  route: 'showResource',
  summary: 'Show a resource with the state of its processing',
  description: [
    `\`assets\` holds the video, if the file has moving pictures, and at most ${MAX_ASSETS} texts, from the \`position\` that`,
    '`assets_from` names on; `next_assets_from` names that of the next, null at the end; the video is in the first answer only.',
    `Each text has the first ${EXCERPT_LENGTH} characters of its text; with \`asset_text=whole\` all of it.`,
  ].join(' '),
  query: z.object({
    assets_from: integerInput({ min: 0, max: 999_999_999, byDefault: 0 }),
    asset_text: z.enum(['excerpt', 'whole']).default('excerpt'),
  }),
  answers: { 200: { description: 'The resource', shape: exactResource } },
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
