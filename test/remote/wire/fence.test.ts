import { expect, test } from 'vitest'
import { ClosedFenceError, type UploadBody } from '../../../src/remote/service-client.ts'
import { clientOf, HELLO, serve, thrownBy, uploadOf } from '../support.ts'

async function* twoChunks() {
  yield Buffer.from('he')
  yield Buffer.from('llo')
}

const BODIES: readonly [string, () => UploadBody][] = [
  ['in one buffer', HELLO],
  ['as a stream', twoChunks],
]

/** Counts bodies that arrived whole, which is what a service stores. */
async function countingService() {
  let whole = 0
  const server = await serve((request, answer) => {
    request.resume().on('end', () => {
      whole += 1
      answer.writeHead(201).end('{"id":"r1"}')
    })
  })
  const client = clientOf(server.origin, { retry: { attempts: 3, firstDelayMs: 1, maxDelayMs: 1 } })
  const stop = async () => {
    await client.close()
    await server[Symbol.asyncDispose]()
  }
  return { client, whole: () => whole, [Symbol.asyncDispose]: stop }
}

test.each(BODIES)('an upload %s ends once its fence opens, and not before [P3]', async (_, openBody) => {
  await using service = await countingService()
  let isOpen = false
  const wholeBefore: number[] = []
  const waitUntilOpen = async () => {
    wholeBefore.push(service.whole())
    isOpen = true
  }
  const answer = await service.client.uploadFile(uploadOf(openBody, { fence: { isOpen: () => isOpen, waitUntilOpen } }))
  expect([answer.id, wholeBefore]).toEqual(['r1', [0]])
})

test.each(BODIES)(
  'an upload %s whose fence closes on the way is cut off, and tried no more [P3]',
  async (_, openBody) => {
    await using service = await countingService()
    let looks = 0
    const isOpen = () => {
      looks += 1
      return looks === 1
    }
    const waitUntilOpen = async () => {
      throw new ClosedFenceError()
    }
    const error = await thrownBy(service.client.uploadFile(uploadOf(openBody, { fence: { isOpen, waitUntilOpen } })))
    expect(error).toBeInstanceOf(ClosedFenceError)
    expect([service.whole(), looks]).toEqual([0, 2])
  },
)
