import type { RequestListener } from 'node:http'
import { describe, expect, it } from 'vitest'
import { clientOn, HELLO, thrownBy, uploadOf } from '../support.ts'

/** Stores what it has read to the end; `onStored` is called before it answers. */
function storing(onStored: () => void = () => {}): RequestListener {
  return (request, answer) => {
    request.resume().on('end', () => {
      onStored()
      answer.writeHead(201).end('{"id":"r1"}')
    })
  }
}

describe('an upload whose client is closed', () => {
  it('a closed client leaves an upload in doubt if it may have arrived [P4]', async () => {
    const arrived = Promise.withResolvers<void>()
    await using client = await clientOn({}, (request) => request.resume().on('end', arrived.resolve))
    const failure = thrownBy(client.uploadFile(uploadOf(HELLO)))
    await arrived.promise
    await client.destroy()
    const message = expect.stringMatching(/^Cannot upload "a.md": shelfd closed its connection/)
    expect(await failure).toMatchObject({ kind: 'doubt', doubtCause: 'interrupted', message })
  })

  it('an upload that a closed client has not begun is no interruption', async () => {
    await using client = await clientOn({}, storing())
    const open = async () => {
      await client.destroy()
      return HELLO()
    }
    const message = expect.stringMatching(/^Cannot upload "a.md": shelfd closed its connection/)
    expect(await thrownBy(client.uploadFile(uploadOf(open)))).toMatchObject({ code: 'connection-closed', message })
  })
})

/** What a body does while it is opened. */
interface Opening {
  abort(): void
  close(): void
}

async function* twoChunks() {
  yield Buffer.from('he')
  yield Buffer.from('llo')
}

it.each([
  [
    'in one buffer',
    ({ abort, close }: Opening) =>
      async () => {
        abort()
        close()
        return HELLO()
      },
  ],
  [
    'as a stream',
    ({ abort, close }: Opening) =>
      async function* () {
        try {
          abort()
          yield* twoChunks()
        } finally {
          close()
        }
      },
  ],
])('an upload %s that is aborted while its file is opened sends nothing', async (_, open) => {
  let uploads = 0
  const onStored = () => {
    uploads += 1
  }
  await using client = await clientOn({}, storing(onStored))
  const stop = new AbortController()
  const closed = Promise.withResolvers<void>()
  const request = uploadOf(open({ abort: () => stop.abort(), close: closed.resolve }))
  expect(await thrownBy(client.uploadFile(request, stop.signal))).toMatchObject({ kind: 'interrupted' })
  await closed.promise
  expect(uploads).toBe(0)
})
