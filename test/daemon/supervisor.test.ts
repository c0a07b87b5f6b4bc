import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { writeHandled } from '../../src/daemon/schedule/schedule.ts'
import { Supervisor } from '../../src/daemon/supervisor.ts'
import { InterruptedError, OperatorError } from '../../src/foundation/errors.ts'
import type { WatchMethod } from '../../src/sync/continuous/mirror-watch.ts'
import type { Engine } from '../../src/sync/engine.ts'
import { pauseMirrors } from '../../src/sync/operator/pause-mirrors.ts'
import { mirrorOf, startEngine } from '../support/engine.ts'
import { lazyService } from '../support/lazy-service.ts'
import { manualClock } from '../support/manual-clock.ts'
import { controllerSettings, manualWatch, turnsOfTheLoop, until } from '../support/mirror-controller.ts'
import { supervisorPlan } from '../support/supervisor.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const HOUR_MS = 3_600_000
const THIRTY_DAYS_MS = 30 * 86_400_000

function controllerOf(name: string, means: WatchMethod = manualWatch().means) {
  const root = writeTree(join(temporaryDirectory(), name), { 'a.md': name })
  return controllerSettings(mirrorOf(root), means)
}

describe('maintenance', () => {
  test('uploads stop and continue within a second when the clock is set into or out of a window [P20]', async () => {
    const clock = manualClock(Date.UTC(2026, 10, 21, 1))
    const { engine } = await startEngine({}, { service: { library: 'Test' }, clock })
    const plan = supervisorPlan(engine, [{ controller: controllerOf('Papers') }])
    const maintenance = [{ start: '0 2 * * *', durationMs: 2 * HOUR_MS }]
    const supervisor = new Supervisor({ ...plan, timeZone: 'UTC', maintenance }, (error) => {
      throw error
    })
    const heldBy = () => supervisor.status.mirrors[0]?.reason?.code
    for (const [byMs, code] of [
      [HOUR_MS, 'maintenance'],
      [2 * HOUR_MS, undefined],
      [-HOUR_MS, 'maintenance'],
      [-5 * HOUR_MS, undefined],
      [48 * HOUR_MS + 4 * HOUR_MS, 'maintenance'],
    ] as const) {
      clock.jump(byMs)
      await clock.advance(1_000)
      expect({ byMs, code: heldBy() }).toEqual({ byMs, code })
    }
    await supervisor.stop()
  })
})

test('a supervisor starts although the store cannot be written [F-PR-20]', async () => {
  const { engine } = await startEngine({}, { service: { library: 'Test' } })
  const controller = controllerOf('Papers')
  const { name } = controller.mirror
  pauseMirrors(engine.store, ['removed'])
  const handled = { cron: '0 2 * * *', handledAt: engine.clock.nowMs(), isUnderWay: false }
  engine.store.write(() => writeHandled(engine.store.keyValues, name, handled))
  const warnings: string[] = []
  const logger = { ...engine.logger, warn: (message: string) => void warnings.push(message) }
  const write = () => {
    throw new Error('disk full')
  }
  const store = { ...engine.store, write }
  const mirrors = [{ controller, schedule: '0 4 * * *' }]
  const supervisor = new Supervisor(supervisorPlan({ ...engine, store, logger }, mirrors), (error) => {
    throw error
  })
  expect(warnings).toEqual([
    'cannot forget pauses and schedules of removed mirrors',
    expect.stringMatching(/^The new times of batches cannot be recorded/),
  ])
  await supervisor.stop()
})

describe('the end of a supervisor', () => {
  test('a stopping supervisor waits for all controllers after one failed', async () => {
    const { engine } = await startEngine({}, { service: { library: 'Test' } })
    let isBroken = false
    const startWalk: Engine['startWalk'] = (options, signal) => {
      if (isBroken) throw new OperatorError('store-damaged', 'by the test')
      return engine.startWalk(options, signal)
    }
    const latch = Promise.withResolvers<void>()
    const slow = manualWatch()
    const watch: WatchMethod['watch'] = async (...place) => {
      const watcher = await slow.means.watch(...place)
      return { ...watcher, [Symbol.asyncDispose]: () => latch.promise }
    }
    const fatal = Promise.withResolvers<unknown>()
    const mirrors = [
      { controller: controllerOf('Good', { ...slow.means, watch }) },
      { controller: controllerOf('Bad') },
    ]
    const supervisor = new Supervisor(supervisorPlan({ ...engine, startWalk }, mirrors), fatal.resolve)
    await until('both are idle', () => supervisor.controllers.every(({ status }) => status.state === 'idle'))
    isBroken = true
    supervisor.controllers[1]?.wake()
    expect(await fatal.promise).toBeInstanceOf(OperatorError)
    let isStopped = false
    const stopping = supervisor.stop().then(() => {
      isStopped = true
    })
    await turnsOfTheLoop()
    expect(isStopped, 'one still ends its watch').toBe(false)
    latch.resolve()
    await stopping
  })

  test('a stopping supervisor waits for the work that it hosts', async () => {
    const { engine } = await startEngine({}, { service: { library: 'Test' } })
    const supervisor = new Supervisor(supervisorPlan(engine), () => {})
    const latch = Promise.withResolvers<string>()
    const work = supervisor.host(() => latch.promise)
    let isStopped = false
    const stopping = supervisor.stop().then(() => {
      isStopped = true
    })
    await turnsOfTheLoop()
    expect(isStopped).toBe(false)
    latch.resolve('served')
    await stopping
    expect(await work).toBe('served')
    await expect(supervisor.host(async () => 'late')).rejects.toBeInstanceOf(InterruptedError)
  })
})

test('a supervisor that wakes does not wait for a dead socket [F-FS-24]', async () => {
  const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
  const isDead = Promise.withResolvers<void>()
  service.onResponse = ({ route }) => {
    if (route !== 'uploadFile') return
    isDead.resolve()
    return new Promise<void>(() => {})
  }
  const plan = supervisorPlan({ ...engine, service: lazyService(service) }, [{ controller: controllerOf('Sleepy') }])
  const supervisor = new Supervisor(plan, () => {})
  onTestFinished(() => supervisor.stop())
  await isDead.promise
  await supervisor.wake()
  await until('the upload in doubt is found', () => engine.store.contents.get(1)?.state === 'stored')
  expect(service.count('uploadFile')).toBe(1)
})

test('a supervisor that wakes checks and scans every directory [F-FS-24]', async () => {
  const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
  const [deaf, gone] = [controllerOf('Deaf'), controllerOf('Gone')]
  const supervisor = new Supervisor(supervisorPlan(engine, [{ controller: deaf }, { controller: gone }]), () => {})
  onTestFinished(() => supervisor.stop())
  const states = () => supervisor.controllers.map(({ status }) => status.state)
  await until('both are idle', () => service.count('uploadFile') === 2 && states().every((state) => state === 'idle'))
  writeTree(deaf.mirror.path, { 'meanwhile.md': 'written while the machine slept' })
  renameSync(gone.mirror.path, `${gone.mirror.path}-unmounted`)
  await supervisor.wake()
  await until('the new file is sent', () => service.count('uploadFile') === 3)
  await until('the other one halts', () => states()[1] === 'halted')
  expect(supervisor.controllers[1]?.status.reason?.code).toBe('root-missing')
})

test('a limit of a month does not cut a batch short', async () => {
  const { service, engine } = await startEngine({}, { service: { library: 'Test' } })
  const latch = Promise.withResolvers<void>()
  service.onResponse = ({ route }) => (route === 'uploadFile' ? latch.promise : undefined)
  const supervisor = new Supervisor(
    supervisorPlan(engine, [
      { controller: controllerOf('Monthly'), schedule: '0 3 1 * *', maxDurationMs: THIRTY_DAYS_MS },
    ]),
    () => {},
  )
  onTestFinished(() => supervisor.stop())
  await until('the batch sends', () => service.count('uploadFile') === 1)
  expect(supervisor.controllers[0]?.status.state).toBe('sending')
  latch.resolve()
  await until('the batch is over', () => supervisor.controllers[0]?.status.reason?.code === 'scheduled')
})
