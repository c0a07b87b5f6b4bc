import { type ViewUrl, viewUrl } from '../../contract/records.ts'
import { TemporaryError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { jsonOf } from '../wire/parse-response.ts'
import type { ServiceRequest, ServiceResponse } from '../wire/request.ts'
import { cannot } from '../wire/transient-failure.ts'

const readResponse = jsonOf(viewUrl)

/** Reads a view URL (2.13): an address of http or https, which may be relative to the service; throws TemporaryError for any other. */
export async function readViewUrl(response: ServiceResponse, request: ServiceRequest<unknown>): Promise<ViewUrl> {
  const view = await readResponse(response, request)
  const url = /[\s\p{C}]/u.test(view.url) ? null : URL.parse(view.url, response.origin)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    const reason = `the service gave an address that is not one of http or https: ${truncateText(view.url, 200)}`
    throw new TemporaryError('answer-malformed', cannot(request, escapeText(reason)))
  }
  // An absolute one is used unchanged: it is signed.
  return URL.canParse(view.url) ? view : { ...view, url: url.href }
}
