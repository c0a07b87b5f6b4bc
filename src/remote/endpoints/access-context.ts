import { accessContext } from '../../contract/records.ts'
import type { ServiceClient } from '../service-client.ts'
import { jsonOf } from '../wire/parse-response.ts'
import type { Send } from '../wire/request.ts'

const readContext = jsonOf(accessContext)

/** Verifying access (4.1). */
export function accessEndpoints(send: Send): Pick<ServiceClient, 'checkAccess'> {
  return {
    checkAccess: (signal) =>
      send({
        target: { kind: 'route', route: 'checkAccess' },
        verb: 'check the access',
        retry: 'always',
        read: readContext,
        signal,
      }),
  }
}
