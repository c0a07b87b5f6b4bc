import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../../src/foundation/clock.ts'
import type { Engine } from '../../../src/sync/engine.ts'
import { emptyBatch, type UnsettledFile } from '../../../src/sync/scan/scan-batch.ts'
import { mirrorOf, openTestEngine } from '../../support/engine.ts'
import { type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { controllerSettings, isIdle, manualWatch, startController, until } from '../../support/mirror-controller.ts'
import { type Tree, temporaryDirectory, writeTree } from '../../support/temporary.ts'

interface Kept {
  readonly tree?: Tree
  /** Called before each scan reads anything, with its number from 1. */
  readonly onScan?: (scan: number, root: string) => void
  readonly startWalk?: Engine['startWalk']
  readonly settleMs?: number
  readonly clock?: Clock
}

/** A controller without regular scans, which counts its scans. */
function keep(service: FaultyService, given: Kept) {
  const { tree = { 'a.md': 'a' }, onScan, startWalk, settleMs = 30, clock = systemClock } = given
  const root = writeTree(join(temporaryDirectory(), 'Papers'), tree)
  const { engine } = openTestEngine(service, { clock })
  const hand = manualWatch()
  const counted = { scans: 0 }
  const counting: Engine['startWalk'] = (options, signal) => {
    counted.scans += 1
    onScan?.(counted.scans, root)
    return (startWalk ?? engine.startWalk)(options, signal)
  }
  const settings = controllerSettings(mirrorOf(root), hand.means, { settleMs })
  const running = startController({ ...engine, startWalk: counting }, settings)
  return { ...running, running, root, hand, counted, engine }
}

const FINGERPRINT = { sizeBytes: 1, mtimeNs: 0n, ctimeNs: 0n, inode: 1n }

describe('scans', () => {
  test('directories that keep coming cause no further scan', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const onScan = (scan: number, root: string) => void writeTree(root, { [`new-${scan}/file.md`]: `${scan}` })
    const { counted, hand, fatal } = keep(service, { onScan })
    await until('all is sent', () => service.count('uploadFile') === 3)
    expect(counted.scans, 'the first one, and one after all is watched').toBe(2)
    expect([...hand.watched].sort()).toEqual(['', 'new-1', 'new-2'])
    expect(fatal).toEqual([])
  })

  test('a scan is planned for more files than can settle', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const unsettled: UnsettledFile[] = Array.from({ length: 10_000 }, (_, index) => {
      return { path: `${index}.md`, isInStore: false, fingerprint: FINGERPRINT }
    })
    const startWalk: Engine['startWalk'] = async function* () {
      yield { ...emptyBatch(), directories: [''], unsettled }
    }
    const { controller, counted } = keep(service, { startWalk, settleMs: 60_000 })
    await until('both scans are over', () => counted.scans === 2 && controller.status.state === 'idle')
    expect(controller.status).toMatchObject({ settling: 10_000, nextScanAt: expect.any(Number) })
  })

  test('scans come at intervals once watches run out [F-FS-20]', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, running, root, hand } = keep(service, {})
    await until('the controller is idle', () => isIdle(running))
    expect(controller.status).toMatchObject({ nextScanAt: null, isWatchLimited: false })
    hand.isLimited = true
    writeTree(root, { 'unwatched/b.md': 'b' })
    hand.events.onHint('unwatched')
    await until('the new file is sent', () => service.count('uploadFile') === 2)
    expect(controller.status).toMatchObject({ nextScanAt: expect.any(Number), isWatchLimited: true })
  })

  test('scans come at intervals once a watcher has stopped [F-FS-22]', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, running, hand, counted } = keep(service, {})
    await until('the controller is idle', () => isIdle(running))
    const before = counted.scans
    hand.hasStopped = true
    hand.events.onLost('the tree has outgrown its watcher')
    await until(
      'scans are planned',
      () => counted.scans > before && isIdle(running) && controller.status.nextScanAt !== null,
    )
    expect(controller.status).toMatchObject({ watcher: 'poll', isWatchLimited: false })
  })

  test('ignore files, losses and limits cause a scan [F-FS-21]', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, running, hand } = keep(service, {})
    const cases = [
      () => hand.events.onHint(''),
      () => hand.events.onHint('sub/.shelfdignore'),
      () => hand.events.onLost('a test'),
      () => hand.events.onLimit('a test'),
    ]
    for (const happens of cases) {
      await until('the controller is idle', () => isIdle(running) && controller.status.nextScanAt === null)
      happens()
      expect(controller.status.nextScanAt).toEqual(expect.any(Number))
      controller.wake()
    }
  })
})

test('a missing file is removed by a scan, not by a hint [P11]', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const { controller, running, root, hand, engine } = keep(service, { tree: { 'a.md': 'a', 'd/b.md': 'b' } })
  await until('the controller is idle', () => isIdle(running))
  const known = () => engine.store.files.count(engine.store.mirrors.list()[0]?.id ?? 0)
  rmSync(join(root, 'd/b.md'))
  hand.events.onHint('d/b.md')
  await until('a scan is planned', () => controller.status.nextScanAt !== null)
  expect(known()).toBe(2)
  controller.wake()
  await until('it is removed', () => known() === 1)
})

test('an ignore rule for everything halts nothing, a real loss halts', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const tree = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`${index}.md`, `${index}`]))
  const { controller, running, root, hand, engine } = keep(service, { tree })
  await until('the controller is idle', () => isIdle(running) && service.count('uploadFile') === 6)
  writeFileSync(join(root, '.shelfdignore'), '*\n')
  hand.events.onHint('.shelfdignore')
  await until('a scan is planned', () => controller.status.nextScanAt !== null)
  controller.wake()
  await until('they are left out', () => engine.store.files.count(1) === 0)
  await until('the controller is idle again', () => isIdle(running))
  expect(controller.status.state).toBe('idle')
  rmSync(join(root, '.shelfdignore'))
  hand.events.onHint('.shelfdignore')
  controller.wake()
  await until('they are back', () => engine.store.files.count(1) === 6 && isIdle(running))
  for (const name of Object.keys(tree)) rmSync(join(root, name))
  hand.events.onHint('')
  controller.wake()
  await until('it halts', () => controller.status.state === 'halted')
  expect([engine.store.files.count(1), service.count('uploadFile')]).toEqual([6, 6])
})

test('a file that never settles is reported as busy until it does [F-FS-01]', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const clock = skippingClock()
  const { controller, running, root, hand, engine } = keep(service, { clock, settleMs: 10_000 })
  const problems = () => engine.store.problems.list(1).map(({ path, code }) => `${path}: ${code}`)
  await until('both scans are over', () => controller.status.settling === 1 && controller.status.state === 'idle')
  clock.skip(10_000)
  controller.wake()
  await until('it is sent', () => service.count('uploadFile') === 1 && isIdle(running))
  for (let look = 0; look < 8; look += 1) {
    clock.skip(9_000)
    writeFileSync(join(root, 'a.md'), `connection ${look}`)
    utimesSync(join(root, 'a.md'), clock.nowMs() / 1_000, clock.nowMs() / 1_000)
    hand.events.onHint('a.md')
  }
  controller.wake()
  await until('it is reported', () => problems().length === 1)
  expect([problems(), service.count('uploadFile')]).toEqual([['a.md: busy'], 1])
  clock.skip(20_000)
  hand.events.onHint('other.md')
  await until('the change is sent', () => service.count('uploadFile') === 2)
  expect(problems()).toEqual([])
})

/** The system's clock, whose wall and monotonic times a test may put forward. */
function skippingClock(): Clock & { skip(byMs: number): void } {
  let aheadMs = 0
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    sleep: systemClock.sleep,
    startTimer: systemClock.startTimer,
    skip: (byMs) => {
      aheadMs += byMs
    },
  }
}

describe('a root', () => {
  test('a vanished root halts its mirror until it is back', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, running, root, hand } = keep(service, {})
    await until('the controller is idle', () => isIdle(running))
    renameSync(root, `${root}-away`)
    hand.events.onHint('a.md')
    controller.wake()
    await until('it halts', () => controller.status.state === 'halted')
    expect(controller.status).toMatchObject({ reason: { code: 'root-missing' }, watcher: null, settling: 0 })
    renameSync(`${root}-away`, root)
    writeFileSync(join(root, 'meanwhile.md'), 'written unseen')
    controller.wake()
    await until('what came meanwhile is sent', () => service.count('uploadFile') === 2)
    expect(hand.watched).toContain('')
  })

  test('a replaced root halts its mirror', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, running, root } = keep(service, {})
    await until('the controller is idle', () => isIdle(running))
    renameSync(root, `${root}-away`)
    mkdirSync(root)
    controller.wake()
    await until('it halts', () => controller.status.state === 'halted')
    expect(controller.status.reason?.code).toBe('root-mismatch')
  })
})
