/** Odd requests to the control socket, made by structure: each is answered in JSON, and the daemon continues. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { faultBody } from '../../../src/foundation/http/fault.ts'
import { fuzzing, jsonText, oddString, spoiled } from '../../support/fuzzing.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { rawRequest, sendRaw, startControl, syncRequest } from './control-daemon.ts'

const REQUESTS: Readonly<Record<string, unknown>> = {
  'POST /v1/syncs': syncRequest,
  'POST /v1/syncs/follow': { sync: '1', stop: { code: 'interrupted', message: 'enough' } },
  'POST /v1/pause': { names: ['papers'] },
  'POST /v1/resume': { names: [] },
  'POST /v1/retry': { contentIds: [1] },
  'POST /v1/ignore': { contentIds: [2] },
  'POST /v1/forget': { name: 'papers' },
  'POST /v1/reload': {},
}

const odd = fc.oneof(
  ...Object.entries(REQUESTS).map(([route, body]) =>
    fc.oneof(spoiled(body).map(jsonText), oddString).map((text) => rawRequest(route, text)),
  ),
  oddString.map((text) => rawRequest(`POST /${encodeURIComponent(text.slice(0, 500).toWellFormed())}`, '{}')),
)

test('each odd request is answered, and the daemon continues', async () => {
  const { path } = await startControl(temporaryDirectory())
  await fc.assert(
    fc.asyncProperty(odd, async (bytes) => {
      const { status, body } = await sendRaw(path, bytes)
      if (status >= 400) faultBody.parse(body)
      else expect([200, 204]).toContain(status)
    }),
    fuzzing(300),
  )
  expect(await sendRaw(path, rawRequest('GET /v1/status'))).toMatchObject({ status: 200 })
})
