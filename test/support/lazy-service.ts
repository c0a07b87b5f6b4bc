import { onTestFinished } from 'vitest'
import { createLazyService, type LazyService } from '../../src/app/service-client/open-service.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { createRedactor } from '../../src/foundation/text/redaction.ts'
import { readSettingsWith } from '../app/settings/read-settings-with.ts'
import type { Variables } from './home.ts'

/** The way to a service as the program opens it, over real sockets; closed with the test at the latest. */
export function lazyService(
  { url, token }: { readonly url: string; readonly token: string },
  more: Variables = {},
): LazyService {
  const env = { SHELFD_SERVICE_URL: url, SHELFD_TOKEN: token, ...more }
  const { signal } = new AbortController()
  const around = { env, cwd: '/', home: '/', logger: silentLogger, redactor: createRedactor(), signal }
  const lazy = createLazyService(readSettingsWith({ env }), around)
  onTestFinished(async () => {
    await lazy.reset()
    await lazy[Symbol.asyncDispose]()
  })
  return lazy
}
