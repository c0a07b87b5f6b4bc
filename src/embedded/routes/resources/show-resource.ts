import { resourceRecord } from '../../../contract/records.ts'
import { notFound } from '../../http/api-error.ts'
import { question } from '../../http/question.ts'
import { requireLibrary, requireResource } from '../../http/require-access.ts'
import { assetBody, resourceBody } from './resource-body.ts'

const MAX_ASSETS = 20
const EXCERPT_LENGTH = 200

/** 4.13 */
export const showResource = question({
  route: 'showResource',
  section: '4.13',
  summary: 'Show a resource with the state of its processing',
  description: `\`assets\` holds at most the first ${MAX_ASSETS}, each with the first ${EXCERPT_LENGTH} characters of its text.`,
  answers: { 200: { description: 'The resource', shape: resourceRecord } },
  errors: [401, 403, 404],
  handle(call) {
    const { tables } = call.service
    const library = requireLibrary(call, 'read')
    const resource = requireResource(call)
    if (resource.libraryId !== library.id) throw notFound('Resource')
    const passages = tables.passages.first(resource.id, MAX_ASSETS)
    return resourceBody(
      tables,
      resource,
      passages.map((passage) => assetBody(resource, passage, EXCERPT_LENGTH)),
    )
  },
})
