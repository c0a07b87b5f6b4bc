import { type ViewUrl, viewUrl } from '../../contract/records.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import { jsonOf, malformed } from '../wire/read-answer.ts'
import type { Answer, ServiceRequest } from '../wire/request.ts'

const readAnswer = jsonOf(viewUrl)

/** Reads a view URL (2.13): an address of http or https, which may be relative to the service; any other is malformed. */
export async function readViewUrl(answer: Answer, request: ServiceRequest<unknown>): Promise<ViewUrl> {
  const view = await readAnswer(answer, request)
  const url = /[\s\p{C}]/u.test(view.url) ? null : URL.parse(view.url, answer.origin)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw malformed(
      `the service gave the address "${escapeText(truncateText(view.url, 200))}", which is not one of http or https`,
    )
  }
  // An absolute one is used unchanged: it is signed.
  return URL.canParse(view.url) ? view : { ...view, url: url.href }
}
