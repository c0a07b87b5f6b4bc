import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { InterruptedError } from '../../../src/foundation/errors.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import type { Connection, Engine } from '../../../src/sync/engine.ts'
import { mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { manualClock } from '../../support/manual-clock.ts'
import {
  controllerSettings,
  isIdle,
  manualWatch,
  startController,
  turnsOfTheLoop,
  until,
} from '../../support/mirror-controller.ts'
import { type Tree, temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** For tests in which nothing may wait for a delay to pass. */
const MAX_DELAYS = () => 0.999

const TEN_YEARS_MS = 10 * 365 * 86_400_000

function rootWith(tree: Tree): string {
  return writeTree(join(temporaryDirectory(), 'Papers'), tree)
}

/** A controller that has sent its whole directory, and whose watcher the test drives. */
async function controlledMirror(service: FaultyService, tree: Tree) {
  const root = rootWith(tree)
  const { engine } = openTestEngine(service)
  const hand = manualWatch()
  const rescanning = { isOver: async () => {} }
  const openRescanner: Engine['openRescanner'] = (options) => {
    const rescanner = engine.openRescanner(options)
    async function* rescan(...work: Parameters<typeof rescanner.rescan>) {
      yield* rescanner.rescan(...work)
      await rescanning.isOver()
    }
    return { rescan, [Symbol.asyncDispose]: () => rescanner[Symbol.asyncDispose]() }
  }
  const running = startController({ ...engine, openRescanner }, controllerSettings(mirrorOf(root), hand.means))
  await until('the controller is idle', () => isIdle(running))
  const write = (name: string, text: string) => {
    writeFileSync(join(root, name), text)
    hand.events.onHint(name)
  }
  return { ...running, running, root, hand, write, engine, rescanning }
}

describe('a continuous mirror', () => {
  test('a controller sends its files and those that hints name', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { write, running, controller } = await controlledMirror(service, { 'a.md': 'a', 'b/c.md': 'c' })
    expect(service.count('uploadFile')).toBe(2)
    write('new.md', 'new')
    await until('the new one is sent', () => service.count('uploadFile') === 3)
    await until('the controller is idle', () => isIdle(running))
    expect(controller.status).toMatchObject({ state: 'idle', reason: null, watcher: 'node', missedByWatcher: 0 })
  })

  test('a new controller sends what changed since the last one stopped', async () => {
    const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
    const { stop, root, fatal } = await controlledMirror(service, { 'a.md': 'a' })
    await stop()
    expect(fatal).toEqual([])
    writeFileSync(join(root, 'a.md'), 'a and more')
    const again = startController(
      engine,
      controllerSettings(mirrorOf(root, { name: 'again', remotePath: '/again' }), null),
    )
    await until('the change is sent', () => service.count('uploadFile') === 2)
    await until('the controller is idle', () => isIdle(again))
  })
})

test('a held mirror is followed until its earlier uploads are searchable', async () => {
  const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
  service.answer = ({ route }) => (route === 'showResource' ? { status: 503, body: {} } : undefined)
  const settings = controllerSettings(mirrorOf(rootWith({ 'a.md': 'a' })), manualWatch().means)
  const first = startController(engine, settings)
  await until('the file is sent', () => service.count('uploadFile') === 1)
  await first.stop()
  const held = startController(engine, settings)
  held.controller.hold('paused', 'by the test')
  service.answer = () => undefined
  const [row] = engine.store.mirrors.list()
  await until('it is searchable', () => row !== undefined && engine.store.contents.countPending(row) === 0)
  expect(held.controller.status.state).toBe('held')
})

test('the pin of a mirror is compared over every new connection [P15]', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const { connection, controller, write } = await controlledMirror(service, { 'a.md': 'a' })
  await connection.reset()
  service.rewrite = ({ route }, body) => (route === 'checkAccess' ? ofOtherTenant(body) : body)
  write('b.md', 'b')
  await until('it halts', () => controller.status.state === 'halted')
  expect(controller.status.reason?.code).toBe('tenant-mismatch')
  expect(service.count('uploadFile')).toBe(1)
})

/** The row of a file in the root of the only mirror. */
function findFile({ store }: Engine, name: string) {
  const [row] = store.mirrors.list()
  return row && store.files.findForCompare(row.id, '', name)
}

function ofOtherTenant(body: Record<string, unknown>): unknown {
  return { ...body, tenant: { id: 4_711, name: 'Another', slug: 'another' } }
}

describe('uploads', () => {
  test('uploads continue after polling failed', async () => {
    const { service, engine } = await startEngine(
      {},
      { service: { library: 'Test' }, limits: { inIngestion: 1, transfers: 1 } },
    )
    // Once the first upload was sent, the service answers only uploads.
    service.answer = ({ route }) =>
      route !== 'uploadFile' && service.count('uploadFile') > 0 ? { status: 503, body: {} } : undefined
    const root = rootWith({ 'a.md': 'a', 'b.md': 'b', 'c.md': 'c' })
    const running = startController(
      { ...engine, random: MAX_DELAYS },
      controllerSettings(mirrorOf(root), manualWatch().means),
    )
    await until('it waits', () => running.controller.status.state === 'waiting')
    service.answer = () => undefined
    running.controller.wake()
    await until('all is sent', () => service.count('uploadFile') === 3)
    await until('the controller is idle', () => isIdle(running))
  })

  test('uploads survive a refused poll', async () => {
    const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
    const isPolled = () => service.count('showResource') > 0
    service.answer = ({ route }) =>
      route === 'showResource' || (route === 'checkAccess' && isPolled()) ? { status: 403, body: {} } : undefined
    const running = startController(
      { ...engine, random: MAX_DELAYS },
      controllerSettings(mirrorOf(rootWith({ 'a.md': 'a' })), manualWatch().means),
    )
    await until('the connection is given up', () => running.connection.status.state === 'refused')
    expect(running.fatal).toEqual([])
    service.answer = () => undefined
    running.controller.wake()
    await until('the connection is well', () => running.connection.status.state === 'connected')
    expect(service.count('uploadFile')).toBe(1)
  })

  test('a wake-up while a failure closes the connection is not lost', async () => {
    const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
    service.answer = ({ route }) => (route === 'checkAccess' ? { status: 401, body: {} } : undefined)
    const { disconnect } = engine.service
    engine.service.disconnect = async () => {
      service.answer = () => undefined
      running.controller.wake()
      await disconnect()
    }
    const settings = controllerSettings(mirrorOf(rootWith({ 'a.md': 'a' })), manualWatch().means)
    const running = startController({ ...engine, random: MAX_DELAYS }, settings)
    await until('the file is sent', () => service.count('uploadFile') === 1)
    await until('the controller is idle', () => isIdle(running))
  })

  test('uploads wait for a pause made while connecting', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, connection, engine, write } = await controlledMirror(service, { 'a.md': 'a' })
    await connection.reset()
    const isAsked = Promise.withResolvers<void>()
    const latch = Promise.withResolvers<void>()
    const { connect } = engine.service
    engine.service.connect = async (signal): Promise<Connection> => {
      isAsked.resolve()
      await latch.promise
      return connect(signal)
    }
    write('b.md', 'b')
    await isAsked.promise
    controller.hold('paused', 'by the test')
    latch.resolve()
    write('c.md', 'c')
    await until('c.md is known', () => findFile(engine, 'c.md') !== undefined)
    expect(service.count('uploadFile')).toBe(1)
    controller.release('paused')
    await until('both are sent', () => service.count('uploadFile') === 3)
  })
})

test('a change is sent although all others have just ended', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const { engine, write, rescanning } = await controlledMirror(service, { 'a.md': 'a' })
  const isOver = Promise.withResolvers<void>()
  service.onResponse = ({ fileName }) => (fileName === 'b.md' ? isOver.promise : undefined)
  write('b.md', 'b')
  await until('it is on its way', () => service.count('uploadFile') === 2)
  // The upload under way ends after the next change was rescanned and before the run learns of it.
  rescanning.isOver = async () => {
    isOver.resolve()
    await until('nothing is sent any more', () => !isUnderWay(engine))
    await turnsOfTheLoop()
  }
  write('c.md', 'c')
  await until('it is sent as well', () => service.count('uploadFile') === 3)
})

test('a change is sent while the upload of a large file lasts', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const { write } = await controlledMirror(service, { 'a.md': 'a' })
  const released = Promise.withResolvers<void>()
  service.onResponse = ({ fileName }) => (fileName === 'large.md' ? released.promise : undefined)
  write('large.md', 'large')
  await until('the large one is on its way', () => service.count('uploadFile') === 2)
  write('small.md', 'small')
  await until('the small one is sent', () => service.count('uploadFile') === 3)
  released.resolve()
})

test('a mirror that something interrupts pauses, and is not halted', async () => {
  const clock = manualClock()
  const { service, engine } = await startEngine({}, { service: { library: 'Test' }, clock })
  const { connect } = engine.service
  let cuts = 0
  engine.service.connect = (signal) => {
    cuts += 1
    return cuts < 100 ? Promise.reject(new InterruptedError()) : connect(signal)
  }
  const settings = controllerSettings(mirrorOf(rootWith({ 'a.md': 'a' })), manualWatch().means)
  const { controller } = startController(engine, settings)
  await until('it waits', () => controller.status.state === 'waiting')
  for (let turn = 0; turn < 50; turn += 1) await clock.settle()
  expect(cuts).toBe(1)
  expect(controller.status.reason?.code).toBe('interrupted')
  engine.service.connect = connect
  await until('all is sent', () => {
    void clock.advanceToNext()
    return service.count('uploadFile') === 1
  })
})

describe('the state while sending', () => {
  /** A controller whose upload of b.md, and so its run, lasts until `release`. */
  async function sendingMirror(service: FaultyService) {
    const mirror = await controlledMirror(service, { 'a.md': 'a' })
    const released = Promise.withResolvers<void>()
    service.onResponse = ({ fileName }) => (fileName === 'b.md' ? released.promise : undefined)
    mirror.write('b.md', 'b')
    await until('it is on its way', () => service.count('uploadFile') === 2)
    const writeBelow = (directory: string, name: string) => {
      writeTree(mirror.root, { [`${directory}/${name}`]: name })
      mirror.hand.events.onHint(`${directory}/${name}`)
    }
    return { ...mirror, writeBelow, release: released.resolve }
  }

  test('the state is sending while a file waits for its directory', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, running, engine, writeBelow, release } = await sendingMirror(service)
    const isMade = Promise.withResolvers<void>()
    const before = service.onResponse
    service.onResponse = (seen) => (seen.route === 'createDirectory' ? isMade.promise : before(seen))
    const made = service.count('createDirectory')
    writeBelow('d', 'c.md')
    await until('the directory is being made', () => service.count('createDirectory') > made)
    release()
    await until('b.md is stored', () => engine.store.contents.countToSend(1).n === 1 && !isUnderWay(engine))
    expect(controller.status.state).toBe('sending')
    isMade.resolve()
    await until('c.md is sent', () => service.count('uploadFile') === 3)
    await until('the controller is idle', () => isIdle(running))
  })

  test('a mirror is not idle before its run is recorded', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { controller, running, engine, release } = await sendingMirror(service)
    const { runs } = engine.store
    const { finish } = runs
    const states: string[] = []
    runs.finish = (...run) => {
      states.push(controller.status.state)
      finish(...run)
    }
    release()
    await until('the controller is idle', () => isIdle(running))
    expect(states).toEqual(['sending'])
  })

  test('a run reports a repeated problem once', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { running, engine, writeBelow, release } = await sendingMirror(service)
    service.answer = ({ route }) => (route === 'createDirectory' ? { status: 422, body: { message: 'No' } } : undefined)
    const asked = service.count('createDirectory')
    const accounts: unknown[] = []
    const { runs } = engine.store
    const { finish } = runs
    runs.finish = (runId, verdict, summary, nowMs) => {
      accounts.push(summary)
      finish(runId, verdict, summary, nowMs)
    }
    for (let round = 1; round <= 3; round += 1) {
      writeBelow('d', `${round}.md`)
      await until('the directory is refused', () => service.count('createDirectory') >= asked + round)
    }
    release()
    await until('the run is over', () => accounts.length > 0)
    await until('the controller is idle', () => isIdle(running))
    expect(accounts[0]).toMatchObject({ mirrors: [{ problems: [{ path: 'd' }] }] })
  })
})

function isUnderWay({ inFlight: underWay }: Engine): boolean {
  return underWay.size > 0
}

test('a batch waits for files that have not settled', async () => {
  const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
  const settings = controllerSettings(mirrorOf(rootWith({ 'a.md': 'a' })), manualWatch().means, { settleMs: 500 })
  const { controller } = startController(engine, settings)
  controller.hold('scheduled', 'by the test')
  await controller.batch(new AbortController().signal)
  expect(service.count('uploadFile')).toBe(1)
  expect(controller.status).toMatchObject({ state: 'held', settling: 0 })
})

test('a batch ends at its time limit although a file settles', async () => {
  const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
  const settings = controllerSettings(mirrorOf(rootWith({ 'a.md': 'a' })), manualWatch().means, { settleMs: 60_000 })
  const { controller } = startController(engine, settings)
  controller.hold('scheduled', 'by the test')
  const isLong = new AbortController()
  const batch = controller.batch(isLong.signal)
  await until('it settles', () => controller.status.settling === 1)
  isLong.abort()
  await batch
  expect(service.count('uploadFile')).toBe(0)
})

test('a controller does nothing while another run has its mirror', async () => {
  let calls = 0
  const lstatSync: FileSystem['lstatSync'] = (path, options) => {
    calls += 1
    return nodeFileSystem.lstatSync(path, options)
  }
  const fs = { ...nodeFileSystem, lstatSync }
  const { engine } = await startEngine({}, { service: { library: 'Test' }, fs })
  const running = startController(engine, controllerSettings(mirrorOf(rootWith({ 'a.md': 'a' })), manualWatch().means))
  await until('the controller is idle', () => isIdle(running))
  for (let turns = 0; turns < 60; turns += 1) {
    running.controller.wake()
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    const quiesced = await running.controller.quiesce()
    const before = calls
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(calls, `after ${turns} turns`).toBe(before)
    quiesced[Symbol.dispose]()
  }
  await until('the controller is idle', () => isIdle(running))
})

test.each([null, manualWatch().means])(
  'a modification time in the future does not prevent an upload [P20]',
  async (watch) => {
    await using service = await startFaultyService({ library: 'Test' })
    const { engine } = openTestEngine(service)
    const root = rootWith({ 'a.md': 'a', 'b.md': 'b' })
    const future = new Date(Date.now() + TEN_YEARS_MS)
    utimesSync(join(root, 'a.md'), future, future)
    const running = startController(engine, controllerSettings(mirrorOf(root), watch, { rescanMs: 3_600_000 }))
    await until('both are sent', () => service.count('uploadFile') === 2)
    await until('the controller is idle', () => isIdle(running))
  },
)
