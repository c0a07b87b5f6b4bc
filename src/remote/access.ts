import { accessContext } from '../contract/records.ts'
import { jsonOf } from './answers.ts'
import type { Send } from './request.ts'
import type { ServiceClient } from './service-client.ts'

const readContext = jsonOf(accessContext)

/** Verifying access (4.1). */
export function accessTopic(send: Send): Pick<ServiceClient, 'checkAccess'> {
  return {
    checkAccess: (signal) =>
      send({
        target: { kind: 'route', route: 'checkAccess' },
        verb: 'check the access',
        repeat: 'always',
        read: readContext,
        signal,
      }),
  }
}
