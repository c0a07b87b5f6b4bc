import { z } from 'zod'
import type { RouteName } from '../../../contract/routes.ts'
import { invalid } from '../../http/api-error.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { requireAsset } from '../../http/require-access.ts'
import { downloadQuery } from '../../http/send-content.ts'

const timestampInput = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'Must be a number of seconds from 0 on')
  .transform(Number)
  .meta({ type: 'number', minimum: 0 })

/** 4.3 */
export const downloadScene = representation('downloadScene', '4.3', 'The five-frame collage of a scene of a video')

/** 4.4 */
export const downloadFrame = representation('downloadFrame', '4.4', 'One frame of a video')

/** This instance extracts no video assets, so it answers 422 for every asset. */
function representation(route: RouteName, section: string, summary: string): Endpoint {
  return endpoint({
    route,
    section,
    summary,
    description: 'Every asset of this instance is a text: the answer is 422.',
    takesSignedUrl: true,
    query: downloadQuery.extend({ timestamp_seconds: timestampInput }),
    answers: { 200: { description: 'The picture', mediaType: 'image/png' } },
    errors: [401, 403, 404, 422],
    handle(call) {
      requireAsset(call)
      throw invalid('asset', 'The asset is not a video')
    },
  })
}
