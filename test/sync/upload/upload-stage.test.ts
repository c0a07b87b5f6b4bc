import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TemporaryError } from '../../../src/foundation/errors.ts'
import type { ServiceClient } from '../../../src/remote/service-client.ts'
import type { Engine } from '../../../src/sync/engine.ts'
import { type SentFile, silentFileLog } from '../../../src/sync/sinks.ts'
import { startEngine } from '../../support/engine.ts'
import { readLibrary } from '../../support/library-contents.ts'
import { manyFiles } from '../../support/temporary.ts'

/** More turns of the event loop than a run needs to end when it waits for nothing. */
const MANY_TURNS = 300

test('a receipt is committed while another upload lasts', async () => {
  const { promise: isStored, resolve: store } = Promise.withResolvers<void>()
  const withLongUpload = (client: ServiceClient): ServiceClient => ({
    ...client,
    uploadFile: async (upload, signal) => {
      if (upload.fileName === 'b.md') await isStored
      return client.uploadFile(upload, signal)
    },
  })
  const { tested, mirror } = await startEngine(
    { 'a.md': 'A', 'b.md': 'B' },
    { wrapClient: withLongUpload, limits: { transfers: 2 } },
  )
  const { contents } = tested.store
  const { markStored } = contents
  Object.assign(contents, {
    markStored: (...given: Parameters<typeof markStored>) => {
      markStored(...given)
      store()
    },
  })
  const { summary } = await tested.sync([mirror])
  expect(summary.mirrors[0]?.uploads.created).toBe(2)
})

test('a commit that fails waits for uploads in flight', async () => {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const events: string[] = []
  const withSlowUpload = (client: ServiceClient): ServiceClient => ({
    ...client,
    uploadFile: async (upload, signal) => {
      const answer = await client.uploadFile(upload, signal)
      if (upload.fileName !== 'b.md') return answer
      await isReleased
      events.push('the upload ended')
      return answer
    },
  })
  const stopping = new AbortController()
  const limits = { transfers: 2 }
  const { tested, mirror } = await startEngine(
    { 'a.md': 'A', 'b.md': 'B', 'c.md': 'C' },
    { wrapClient: withSlowUpload, signal: stopping.signal, limits },
  )
  const { promise: hasFailed, resolve: fail } = Promise.withResolvers<void>()
  const { contents } = tested.store
  Object.assign(contents, {
    markStored: () => {
      fail()
      throw new Error('The disk is broken')
    },
  })
  const running = tested.sync([mirror]).finally(() => events.push('the run ended'))
  const ended = running.catch((error: Error) => error.message)
  await hasFailed
  for (let turn = 0; turn < MANY_TURNS; turn += 1) await nextTurn()
  release()
  expect(await ended).toBe('The disk is broken')
  expect(events).toEqual(['the upload ended', 'the run ended'])
  expect(tested.engine.inFlight.size).toBe(0)
  expect(getEventListeners(stopping.signal, 'abort')).toEqual([])
})

test('uploads of another mirror take their turn', async () => {
  const events: string[] = []
  const { promise: engine, resolve: setEngine } = Promise.withResolvers<Engine>()
  const withOther = (client: ServiceClient): ServiceClient => ({
    ...client,
    uploadFile: async (upload, signal) => {
      if (events.push('ours') === 1) void (await engine).uploads.add(() => events.push('other'))
      return client.uploadFile(upload, signal)
    },
  })
  const { tested, mirror } = await startEngine(manyFiles(6, 6), { wrapClient: withOther, limits: { transfers: 1 } })
  setEngine(tested.engine)
  await tested.sync([mirror])
  expect(events).toEqual(['ours', 'other', 'ours', 'ours', 'ours', 'ours', 'ours'])
})

test('results whose commit fails once are committed later, and counted once [P1]', async () => {
  const announced: string[] = []
  const sent = ({ resourceId }: SentFile) => void announced.push(resourceId)
  const { service, tested, mirror } = await startEngine(manyFiles(12, 12), { fileLog: { ...silentFileLog, sent } })
  const { store } = tested
  const { write } = store
  let hasFailed = false
  const failOnce = (work: () => unknown) => {
    const account = store.uploads.tallyArrived(1, 0).n
    return write(() => {
      const result = work()
      if (hasFailed || store.uploads.tallyArrived(1, 0).n === account) return result
      hasFailed = true
      throw new TemporaryError('disk-full', 'The disk is full')
    })
  }
  Object.assign(store, { write: failOnce })
  const { summary, failure } = await tested.sync([mirror])
  expect(failure).toMatchObject({ code: 'disk-full' })
  const stored = announced.map((id) => store.contents.findByResource(1, id)?.state)
  expect(stored).toEqual(announced.map(() => 'stored'))
  expect(new Set(announced).size).toBe(announced.length)
  expect(summary.mirrors[0]?.uploads).toMatchObject({ created: readLibrary(service.dataDir).length })
  expect(announced).toHaveLength(readLibrary(service.dataDir).length)
})

test.each([
  ['small uploads to a configured service', { isEmbedded: false, sizeBytes: 9, atOnce: 2 }],
  ['small uploads into the library on this computer', { isEmbedded: true, sizeBytes: 9, atOnce: 8 }],
  ['large uploads into the library on this computer', { isEmbedded: true, sizeBytes: 140_000, atOnce: 2 }],
])('%s are under way as many at once as they may', async (_, { isEmbedded, sizeBytes, atOnce }) => {
  const names = Array.from({ length: 12 }, (_each, index) => `${index}.md`)
  const tree = Object.fromEntries(names.map((name) => [name, name.padEnd(sizeBytes, '.')]))
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  let [underWay, most] = [0, 0]
  const withWaiting = (client: ServiceClient): ServiceClient => ({
    ...client,
    uploadFile: async (upload, signal) => {
      underWay += 1
      most = Math.max(most, underWay)
      if (underWay === atOnce) void nextTurn().then(() => release())
      await isReleased
      underWay -= 1
      return client.uploadFile(upload, signal)
    },
  })
  const { tested, mirror } = await startEngine(tree, { isEmbedded, wrapClient: withWaiting, limits: { transfers: 2 } })
  const { summary } = await tested.sync([mirror])
  expect([summary.mirrors[0]?.uploads.created, most]).toEqual([12, atOnce])
})
