import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import type { UploadRequest } from '../../../src/remote/service-client.ts'
import { clientOf, thrownBy, uploadOf } from '../../remote/support.ts'
import { startLibrary } from '../temporary-library.ts'

/** A library, its client by the port, and one by sockets alone. */
async function libraryWithPort(options: Parameters<typeof startLibrary>[0] = {}) {
  const { port1, port2 } = new MessageChannel()
  const { dataDir, library, client, stop } = await startLibrary({ ...options, uploadPort: port2 })
  const whereabouts = {
    isAt: async () => true,
    relocate: async () => (await startLibrary({ dataDir })).library.url,
    uploadPort: port1,
  }
  const retry = { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 }
  const around = { token: library.token, clock: systemClock, retry }
  const [byPort, bySocket] = [clientOf(library.url, { ...around, whereabouts }), clientOf(library.url, around)]
  onTestFinished(async () => {
    await byPort.destroy()
    await bySocket.destroy()
  })
  const libraryId = await client.createLibrary()
  await byPort.createDirectory(libraryId, '/docs')
  const upload = (text: string, overrides: Partial<UploadRequest> = {}) => {
    const bytes = Buffer.from(text)
    return uploadOf(() => bytes, { libraryId, sizeBytes: bytes.length, ...overrides })
  }
  return { library, client, libraryId, byPort, bySocket, upload, stop, port: port1, around, whereabouts }
}

test('a library answers by a port what it answers by a socket', async () => {
  const { byPort, bySocket, upload, around, whereabouts, library } = await libraryWithPort({ maxUploadBytes: 1_000 })
  const created = await byPort.uploadFile(upload('one text'))
  const { id, ...rest } = await bySocket.uploadFile(upload('another text'))
  expect({ ...created, id: '' }).toEqual({ ...rest, id: '' })
  expect(await bySocket.uploadFile(upload('one text'))).toEqual({ ...created, duplicate: true })
  expect(await byPort.uploadFile(upload('another text'))).toEqual({ ...rest, id, duplicate: true })
  const refused: Partial<UploadRequest>[] = [
    { directoryPath: '/none' },
    { libraryId: 'none' },
    { fileName: 'x'.repeat(2_000) },
    { sizeBytes: 1_001, openBody: () => Buffer.alloc(1_001) },
  ]
  const answersOf = (client: typeof byPort) =>
    Promise.all(refused.map(async (change) => String(await thrownBy(client.uploadFile(upload('text', change))))))
  expect(await answersOf(byPort)).toEqual(await answersOf(bySocket))
  const stranger = { ...around, token: 'a-token-of-nobody' }
  const strangers = [clientOf(library.url, { ...stranger, whereabouts }), clientOf(library.url, stranger)]
  const codes = await Promise.all(strangers.map((each) => thrownBy(each.uploadFile(upload('text')))))
  expect(codes.map(String)).toEqual([String(codes[1]), String(codes[1])])
})

test('a closing library answers what it has taken by its port, and the rest reaches the next one [P3, P4]', async () => {
  const { byPort, upload, stop, client, libraryId } = await libraryWithPort()
  await byPort.capabilities()
  const send = (index: number) => byPort.uploadFile(upload(`text ${index}`))
  const taken = Array.from({ length: 40 }, (_, index) => send(index))
  // Their message has come when another request is answered.
  await client.get(`/libraries/${libraryId}`)
  const stopped = stop()
  const more = Array.from({ length: 10 }, (_, index) => send(40 + index))
  await stopped
  const answers = await Promise.all([...taken, ...more])
  expect(new Set(answers.map(({ id }) => id)).size).toBe(50)
  expect(answers.filter(({ duplicate }) => duplicate === true)).toEqual([])
})
