import { expect, test } from 'vitest'
import { openEngine } from '../../src/app/open-engine.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { createRedactor } from '../../src/foundation/text/redaction.ts'
import type { Outage } from '../../src/remote/policies/outage.ts'
import { DEFAULT_RETRY } from '../../src/rules/retry-delay.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { readSettingsWith } from './settings/read-settings-with.ts'

test('a new process keeps the wait that the service asked of the one before [P21]', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  service.answer = () => ({ status: 429, body: {}, headers: { 'retry-after': '600' } })
  const env = { SHELFD_SERVICE_URL: service.url, SHELFD_TOKEN: service.token, XDG_STATE_HOME: temporaryDirectory() }
  const settings = readSettingsWith({ env })
  const stop = new AbortController()
  const around = { env, cwd: '/', home: '/', logger: silentLogger, redactor: createRedactor() }
  const input = { ...around, signal: stop.signal, retry: { ...DEFAULT_RETRY, waitsOutRetryAfter: true } }
  const beginMs = Date.now()
  /** Connects until an outage is reported, then stops and returns it. */
  const connectInNewProcess = async (): Promise<Outage> => {
    await using opened = openEngine(settings, input)
    const reported = Promise.withResolvers<Outage>()
    opened.engine.service.onOutage((outage) => outage && reported.resolve(outage))
    const end = new AbortController()
    const connecting = opened.engine.service.connect(end.signal)
    const outage = await Promise.race([
      reported.promise,
      connecting.then(() => Promise.reject(new Error('It connected'))),
    ])
    end.abort()
    await expect(connecting).rejects.toMatchObject({ kind: 'interrupted' })
    return outage
  }
  const first = await connectInNewProcess()
  service.answer = () => undefined
  const second = await connectInNewProcess()
  expect(service.requests.length).toBe(1)
  expect(second).toMatchObject({ code: 'service-throttling' })
  // The time that has passed meanwhile is subtracted.
  const latestMs = (first.askedUntilMs ?? 0) + 1_000
  expect(second.askedUntilMs).toBeGreaterThan(beginMs + 599_000)
  expect(second.askedUntilMs).toBeLessThan(latestMs)
})
