import { expect, onTestFinished, test } from 'vitest'
import { InterruptedError } from '../../src/foundation/errors.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { CAREFUL_PASS } from '../../src/sync/pass.ts'
import { runSync } from '../../src/sync/run/run-sync.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../support/engine.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { lazyService } from '../support/lazy-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { manyFiles, temporaryDirectory, writeTree } from '../support/temporary.ts'

test('uploads beyond the grace of a stop are in doubt, and found later [F-PR-01]', async () => {
  await using service = await startFaultyService({ hasNoDuplicateRule: true })
  const mirror = mirrorOf(writeTree(temporaryDirectory(), manyFiles(12, 12)))
  const [stop, grace] = [new AbortController(), new AbortController()]
  const tested = openTestEngine(service, { signal: stop.signal, graceSignal: grace.signal, limits: { transfers: 2 } })
  // Two uploads are stored, and neither is answered.
  const held = Promise.withResolvers<void>()
  onTestFinished(() => held.resolve())
  const stored = Promise.withResolvers<void>()
  let answers = 0
  service.onResponse = ({ route }) => {
    if (route !== 'uploadFile') return
    answers += 1
    if (answers === 2) stored.resolve()
    return held.promise
  }
  const run = tested.sync([mirror])
  await stored.promise
  stop.abort(new InterruptedError())
  grace.abort(new InterruptedError())
  const result = await run
  expect(result.failure).toMatchObject({ kind: 'interrupted' })
  expect(accountOf(result).uploads).toMatchObject({ created: 0, failed: 0, inDoubt: 2 })
  expect(service.count('uploadFile')).toBe(2)
  await tested[Symbol.asyncDispose]()
  using reader = openStoreReader(tested.stateDir)
  expect(reader?.mirrors.list().flatMap((row) => reader.contents.listDoubtful(row))).toHaveLength(2)

  service.onResponse = () => {}
  await using next = openTestEngine(service, { stateDir: tested.stateDir })
  expect((await next.sync([mirror])).outcome).toBe('done')
  expect(service.count('uploadFile')).toBe(12)
  expect(readLibrary(service.dataDir)).toHaveLength(12)
})

test.each(['disconnect', 'reset'] as const)('a run that a %s of its service cuts off names that', async (end) => {
  const { service, engine, mirror, tested } = await startEngine(manyFiles(4, 4), {
    service: {},
    limits: { transfers: 1 },
  })
  const lazy = lazyService(service)
  const held = service.holdUploads(2)
  const running = runSync({ ...engine, service: lazy }, [mirror], { ...CAREFUL_PASS, waitMs: 0 })
  await held.begun
  const ended = lazy[end]()
  if (end === 'reset') await ended
  held.release()
  await ended
  const result = await running
  expect(result).toMatchObject({ outcome: 'failures', failure: { kind: 'temporary', code: 'connection-closed' } })
  const [problem] = accountOf(result).problems.filter(({ path }) => path === '')
  expect(problem).toMatchObject({
    code: 'connection-closed',
    message: expect.stringContaining('closed its connection'),
  })
  expect((await tested.sync([mirror])).outcome).toBe('done')
  expect(readLibrary(service.dataDir)).toHaveLength(4)
})
