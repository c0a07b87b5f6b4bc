import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyRequest, prepareTarget, sendRaw } from '../../support/any-request.ts'
import { fuzzing } from '../../support/fuzzing.ts'
import { needs } from '../../support/needs.ts'
import { makePdf } from '../ingest/make-pdf.ts'
import { startLibrary } from '../temporary-library.ts'
import { TWO_SCENES } from '../video/film.ts'

/** Every status of the interface, HTTP and docs/development/embedded-library.md but those for failures of the service. */
const ANSWERS = [
  200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 416, 417, 421, 422, 431, 501,
]

const FILES = [
  { type: 'application/pdf', bytes: makePdf([{ lines: ['zebra'] }]) },
  { type: 'video/mp4', bytes: TWO_SCENES },
]

const fields = expect.toSatisfy(
  (errors: unknown) =>
    errors === undefined ||
    Object.values(errors ?? {}).every(
      (texts) => Array.isArray(texts) && texts.every((text) => typeof text === 'string'),
    ),
)

it('any request is answered, and never with a failure [S-17]', async () => {
  needs('ffmpeg', 'ffprobe')
  const bounds = { bodyIdleMs: 500, lingerMs: 500, headersMs: 500 }
  const { client, dataDir, library } = await startLibrary({ requests: bounds })
  const { url, token } = library
  const target = await prepareTarget(client, { url, token, film: TWO_SCENES })
  await fc.assert(
    fc.asyncProperty(anyRequest(FILES), async (asked) => {
      const { status, type, body } = await sendRaw(asked, target)
      expect(ANSWERS).toContain(status)
      // Agents get the errors of their own protocol.
      if (status < 400 || asked.route === 'agent') return
      expect(type).toBe('application/json')
      const json: Record<string, unknown> = JSON.parse(body)
      expect(json).toEqual({ message: expect.stringMatching(/\S/), ...('errors' in json ? { errors: fields } : {}) })
    }),
    fuzzing(1_000),
  )
  expect((await client.get('/auth/check')).status).toBe(200)
  // What a broken request left is removed after its end.
  await expect.poll(() => readdirSync(join(dataDir, 'tmp'))).toEqual([])
})
