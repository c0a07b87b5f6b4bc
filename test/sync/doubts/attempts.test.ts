/** How often one run tries a content, however long it lasts: a later run tries it again. */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../../src/foundation/clock.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { type Fault, type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { controllerSettings, isIdle, manualWatch, startController, until } from '../../support/mirror-controller.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** Every upload takes ten minutes by this clock. */
function slowUploads(service: FaultyService): Clock {
  let aheadMs = 0
  service.onUploadBegun = () => {
    aheadMs += 600_000
  }
  return { ...systemClock, nowMs: () => Date.now() + aheadMs }
}

function countSends({ requests }: FaultyService, name: string): number {
  return requests.filter(({ fileName }) => fileName === name).length
}

describe('a run longer than its quarantines', () => {
  test('a long run sends a failing content twice at most [P4]', async () => {
    const service = await startFaultyService()
    service.fault = ({ fileName }) => (fileName?.startsWith('bad') ? 'html-error' : undefined)
    const tree = { 'bad-1.md': '1', 'bad-2.md': '2', 'bad-3.md': '3', 'good.md': 'good' }
    const mirror = mirrorOf(writeTree(temporaryDirectory(), tree))
    const tested = openTestEngine(service, { clock: slowUploads(service), limits: { transfers: 1 } })
    const { problems } = accountOf(await tested.sync([mirror]))
    expect(problems.map(({ path }) => path)).toEqual(['bad-1.md', 'bad-2.md', 'bad-3.md'])
    expect([1, 2, 3].map((number) => countSends(service, `bad-${number}.md`))).toEqual([2, 2, 2])
  })

  test('a long run sends a refused content once, also for two mirrors [F-SV-10]', async () => {
    const service = await startFaultyService()
    const refusal = { status: 422, body: { message: 'no' } }
    service.answer = ({ fileName }) => (fileName?.includes('bad') ? refusal : undefined)
    const root = temporaryDirectory()
    const many = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((number) => [`a${number}.md`, `${number}`]))
    const one = mirrorOf(writeTree(join(root, 'one'), { 'bad.md': 'bad' }))
    const two = mirrorOf(writeTree(join(root, 'two'), { ...many, 'z-bad.md': 'bad' }))
    const tested = openTestEngine(service, { clock: slowUploads(service), limits: { transfers: 1 } })
    expect((await tested.sync([one, two])).outcome).toBe('failures')
    expect(service.requests.filter(({ fileName }) => fileName?.includes('bad'))).toHaveLength(1)
  })
})

describe('a content that was sent to two directories', () => {
  /** Sent to `a` in vain, then, after its directory was renamed, to `b`, where it may have arrived. */
  async function openSentTwice(lastFault: Fault) {
    const { service, tested, mirror } = await startEngine({ 'a/x.md': 'x' })
    service.fault = ({ fileName }) => (fileName === 'x.md' ? 'html-error' : undefined)
    await tested.sync([mirror])
    renameSync(join(mirror.path, 'a'), join(mirror.path, 'b'))
    tested.store.write(() => tested.store.quarantine.makeDue(1))
    service.fault = ({ fileName }) => (fileName === 'x.md' ? lastFault : undefined)
    await tested.sync([mirror])
    tested.store.write(() => tested.store.quarantine.makeDue(1))
    service.fault = () => undefined
    return { service, mirror, tested, before: countSends(service, 'x.md') }
  }

  test('a content found in one directory is not sent, whatever another one lacks', async () => {
    const { service, mirror, tested, before } = await openSentTwice('cut-answer')
    expect((await tested.sync([mirror])).outcome).toBe('done')
    expect(countSends(service, 'x.md')).toBe(before)
  })

  test('a content that one directory lacks is not sent while another one cannot be listed', async () => {
    const { service, mirror, tested, before } = await openSentTwice('html-error')
    service.fault = ({ route, path }) =>
      route === 'listDirectory' && path.includes('%2Fb&') ? 'html-error' : undefined
    expect((await tested.sync([mirror])).outcome).toBe('failures')
    expect(countSends(service, 'x.md')).toBe(before)
  })
})

test('an idle controller polls a failed ingestion again when it is due', async () => {
  const service = await startFaultyService({ library: 'Test' })
  service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: 'failed' } : body)
  const { engine, store, sync } = openTestEngine(service)
  const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'a' }))
  expect((await sync([mirror])).outcome).toBe('failures')
  const running = startController(engine, controllerSettings(mirror, manualWatch().means))
  await until('the controller is idle', () => isIdle(running))
  service.rewrite = (_, body) => body
  store.write(() => store.quarantine.makeDue(1))
  running.controller.wake()
  await until('it is searchable', () => store.contents.get(1)?.outcome === 'searchable')
  expect(service.count('uploadFile')).toBe(1)
})
