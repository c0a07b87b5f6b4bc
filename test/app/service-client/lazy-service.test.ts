import { expect, test } from 'vitest'
import type { Outage } from '../../../src/remote/policies/outage.ts'
import { type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { freePort } from '../../support/free-port.ts'
import { lazyService } from '../../support/lazy-service.ts'

test('a reset waits for no request under way', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const lazy = lazyService(service)
  const { signal } = new AbortController()
  const { client } = await lazy.connect(signal)
  const isAsked = Promise.withResolvers<void>()
  service.onResponse = ({ route }) => {
    if (route !== 'showLibrary') return
    isAsked.resolve()
    return new Promise<void>(() => {})
  }
  const shown = client.showLibrary('lib').catch((error: unknown) => error)
  await isAsked.promise
  // The reset does not wait for an orderly disconnect (as after a failure) either.
  const disconnected = lazy.disconnect()
  await lazy.reset()
  await disconnected
  expect(await shown).toMatchObject({ kind: 'temporary', code: 'connection-closed' })
  expect((await lazy.connect(signal)).client).not.toBe(client)
})

/** Holds the answer to the next check of the credential until `release`. */
function holdNextConnect(service: FaultyService) {
  const asked = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<void>()
  service.onResponse = ({ route }) => {
    if (route !== 'checkAccess') return
    asked.resolve()
    service.onResponse = () => {}
    return latch.promise
  }
  return { asked: asked.promise, release: latch.resolve }
}

test.each(['disconnect', 'reset'] as const)('a connect that a %s overtakes opens another client', async (end) => {
  await using service = await startFaultyService({ library: 'Test' })
  const lazy = lazyService(service)
  const { signal } = new AbortController()
  const { asked, release } = holdNextConnect(service)
  const connecting = lazy.connect(signal)
  await asked
  const ended = lazy[end]()
  release()
  await ended
  const { client } = await connecting
  expect((await client.checkAccess()).libraries).toHaveLength(1)
  expect((await lazy.connect(signal)).client).toBe(client)
})

test('a caller that leaves takes the connect from nobody else', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const lazy = lazyService(service)
  const [leaving, staying] = [new AbortController(), new AbortController()]
  const { asked, release } = holdNextConnect(service)
  const left = lazy.connect(leaving.signal).catch((error: unknown) => error)
  const stayed = lazy.connect(staying.signal)
  await asked
  leaving.abort()
  expect(await left).toMatchObject({ kind: 'interrupted' })
  release()
  const { access } = await stayed
  expect(access.libraries).toHaveLength(1)
  expect(service.count('checkAccess')).toBe(1)
})

test('a caller that joins a connect may leave it at once', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const lazy = lazyService(service)
  const leaving = new AbortController()
  const { asked, release } = holdNextConnect(service)
  const first = lazy.connect(new AbortController().signal)
  await asked
  const left = lazy.connect(leaving.signal).catch((error: unknown) => error)
  leaving.abort()
  expect(await left).toMatchObject({ kind: 'interrupted' })
  release()
  await first
})

test('a connect that everybody has left delays no end', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const lazy = lazyService(service)
  const leaving = new AbortController()
  const { asked } = holdNextConnect(service)
  const left = lazy.connect(leaving.signal).catch((error: unknown) => error)
  await asked
  leaving.abort()
  await left
  await lazy[Symbol.asyncDispose]()
})

test('a service that was disposed of is not opened again', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const lazy = lazyService(service)
  const { signal } = new AbortController()
  const { asked, release } = holdNextConnect(service)
  const connecting = lazy.connect(signal).catch((error: unknown) => error)
  await asked
  const ended = lazy[Symbol.asyncDispose]()
  release()
  await ended
  expect(await connecting).toMatchObject({ kind: 'interrupted' })
  await expect(lazy.connect(signal)).rejects.toMatchObject({ kind: 'interrupted' })
  expect(service.count('checkAccess')).toBe(1)
})

test('a wait that the service asked for holds for the next client [P21]', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  service.answer = () => ({ status: 429, body: {}, headers: { 'retry-after': '3600' } })
  const lazy = lazyService(service)
  const { signal } = new AbortController()
  const refused = { code: 'service-throttling' }
  await expect(lazy.connect(signal)).rejects.toMatchObject(refused)
  service.answer = () => undefined
  await lazy.disconnect()
  await expect(lazy.connect(signal)).rejects.toMatchObject(refused)
  await lazy.reset()
  await expect(lazy.connect(signal)).rejects.toMatchObject(refused)
  expect(service.requests.length).toBe(1)
})

test('whoever begins to wait during an outage is told of it at once, until the service is asked anew', async () => {
  const lazy = lazyService({ url: `http://127.0.0.1:${await freePort()}`, token: 'token' })
  const leaving = new AbortController()
  const reported = Promise.withResolvers<Outage | null>()
  lazy.onOutage(reported.resolve)
  const connecting = lazy.connect(leaving.signal).catch(() => {})
  const first = await reported.promise
  const told: (Outage | null)[] = []
  lazy.onOutage((outage) => told.push(outage))
  expect(told).toEqual([first])
  leaving.abort()
  await connecting
  await lazy.disconnect()
  const later: unknown[] = []
  lazy.onOutage((outage) => later.push(outage))
  expect(later).toEqual([])
})
