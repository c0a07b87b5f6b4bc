import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { lazyService } from '../support/lazy-service.ts'

test('a reset waits for no request under way', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const lazy = lazyService(service)
  const { signal } = new AbortController()
  const { client } = await lazy.connect(signal)
  const isAsked = Promise.withResolvers<void>()
  service.onAnswered = ({ route }) => {
    if (route !== 'showLibrary') return
    isAsked.resolve()
    return new Promise<void>(() => {})
  }
  const shown = client.showLibrary('lib').catch((error: unknown) => error)
  await isAsked.promise
  // One that closes in order, as after a failure, is not waited for either.
  const disconnected = lazy.disconnect()
  await lazy.reset()
  await disconnected
  expect(await shown).toMatchObject({ reaction: 'interrupted' })
  expect((await lazy.connect(signal)).client).not.toBe(client)
})
