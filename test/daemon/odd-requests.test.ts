/** Whatever is sent to the control socket, by structure: each is answered by one error or result, and the daemon goes on. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PROTOCOL_VERSION } from '../../src/daemon/control/protocol.ts'
import { fuzzRuns, jsonText, oddString, spoiled } from '../support/fuzzing.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { sendRaw, startControl, syncRequest } from './control-daemon.ts'

const REQUESTS: readonly unknown[] = [
  { kind: 'status' },
  { kind: 'sync', ...syncRequest },
  { kind: 'pause', names: ['papers'] },
  { kind: 'resume', names: [] },
  { kind: 'retry', contentIds: [1] },
  { kind: 'ignore', contentIds: [2] },
  { kind: 'forget', name: 'papers' },
  { kind: 'library', service: '/elsewhere' },
  { kind: 'reload' },
]

const line = fc.oneof(
  ...REQUESTS.map((request) => spoiled({ version: PROTOCOL_VERSION, request }).map(jsonText)),
  oddString.map((text) => text.replaceAll('\n', ' ')),
)

test('Odd requests are answered, and the daemon goes on', async () => {
  const { path } = await startControl(temporaryDirectory())
  await fc.assert(
    fc.asyncProperty(line, async (text) => {
      const answers = await sendRaw(path, `${text}\n`)
      expect(answers).toEqual([expect.objectContaining({ kind: expect.stringMatching(/^(?:error|result)$/) })])
    }),
    fuzzRuns(300),
  )
  const [answer] = await sendRaw(
    path,
    `${JSON.stringify({ version: PROTOCOL_VERSION, request: { kind: 'status' } })}\n`,
  )
  expect(answer).toMatchObject({ kind: 'result' })
})
