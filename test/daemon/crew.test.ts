import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Crew } from '../../src/daemon/crew.ts'
import { InterruptedError, OperatorError } from '../../src/foundation/errors.ts'
import type { WatchMeans } from '../../src/sync/continuous/mirror-watch.ts'
import type { Engine } from '../../src/sync/engine.ts'
import { crewPlan } from '../support/crew.ts'
import { mirrorOf, openTestEngine } from '../support/engine.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { handWatch, keeperSettings, until } from '../support/keeper.ts'
import { lazyService } from '../support/lazy-service.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

const THIRTY_DAYS_MS = 30 * 86_400_000

function keeperOf(name: string, means: WatchMeans = handWatch().means) {
  const root = writeTree(join(temporaryDirectory(), name), { 'a.md': name })
  return keeperSettings(mirrorOf(root), means)
}

describe('a crew that stops', () => {
  test('waits for all keepers after one failed', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { engine } = openTestEngine(service)
    let isBroken = false
    const observeTree: Engine['observeTree'] = (options, signal) => {
      if (isBroken) throw new OperatorError('store-damaged', 'by the test')
      return engine.observeTree(options, signal)
    }
    const gate = Promise.withResolvers<void>()
    const slow = handWatch()
    const watch: WatchMeans['watch'] = async (...place) => {
      const watcher = await slow.means.watch(...place)
      return { ...watcher, [Symbol.asyncDispose]: () => gate.promise }
    }
    const fatal = Promise.withResolvers<unknown>()
    const mirrors = [{ keeper: keeperOf('Good', { ...slow.means, watch }) }, { keeper: keeperOf('Bad') }]
    const crew = new Crew(crewPlan({ ...engine, observeTree }, mirrors), fatal.resolve)
    await until('both are idle', () => crew.keepers.every(({ standing }) => standing.state === 'idle'))
    isBroken = true
    crew.keepers[1]?.wake()
    expect(await fatal.promise).toBeInstanceOf(OperatorError)
    let isStopped = false
    const stopping = crew.stop().then(() => {
      isStopped = true
    })
    await turnsOfTheLoop()
    expect(isStopped, 'one still ends its watch').toBe(false)
    gate.resolve()
    await stopping
  })

  test('waits for the guests that it hosts', async () => {
    await using service = await startFaultyService({ library: 'Test' })
    const { engine } = openTestEngine(service)
    const crew = new Crew(crewPlan(engine), () => {})
    const gate = Promise.withResolvers<string>()
    const guest = crew.host(() => gate.promise)
    let isStopped = false
    const stopping = crew.stop().then(() => {
      isStopped = true
    })
    await turnsOfTheLoop()
    expect(isStopped).toBe(false)
    gate.resolve('served')
    await stopping
    expect(await guest).toBe('served')
    await expect(crew.host(async () => 'late')).rejects.toBeInstanceOf(InterruptedError)
  })
})

test('a crew that wakes waits for no dead socket', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const { engine } = openTestEngine(service)
  const isDead = Promise.withResolvers<void>()
  service.onAnswered = ({ route }) => {
    if (route !== 'uploadFile') return
    isDead.resolve()
    return new Promise<void>(() => {})
  }
  const plan = crewPlan({ ...engine, service: lazyService(service) }, [{ keeper: keeperOf('Sleepy') }])
  const crew = new Crew(plan, () => {})
  onTestFinished(() => crew.stop())
  await isDead.promise
  await crew.wake()
  await until('what was in doubt is found', () => engine.store.contents.get(1)?.state === 'stored')
  expect(service.count('uploadFile')).toBe(1)
})

test('a crew that wakes checks and scans every directory', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const { engine } = openTestEngine(service)
  const [deaf, gone] = [keeperOf('Deaf'), keeperOf('Gone')]
  const crew = new Crew(crewPlan(engine, [{ keeper: deaf }, { keeper: gone }]), () => {})
  onTestFinished(() => crew.stop())
  const states = () => crew.keepers.map(({ standing }) => standing.state)
  await until('both are idle', () => service.count('uploadFile') === 2 && states().every((state) => state === 'idle'))
  writeTree(deaf.mirror.path, { 'meanwhile.md': 'written while the machine slept' })
  renameSync(gone.mirror.path, `${gone.mirror.path}-unmounted`)
  await crew.wake()
  await until('what was written is sent', () => service.count('uploadFile') === 3)
  await until('the other one halts', () => states()[1] === 'halted')
  expect(crew.keepers[1]?.standing.reason?.code).toBe('root-missing')
})

test('a month is not too long for a batch', async () => {
  await using service = await startFaultyService({ library: 'Test' })
  const { engine } = openTestEngine(service)
  const gate = Promise.withResolvers<void>()
  service.onAnswered = ({ route }) => (route === 'uploadFile' ? gate.promise : undefined)
  const crew = new Crew(
    crewPlan(engine, [{ keeper: keeperOf('Monthly'), schedule: '0 3 1 * *', maxDurationMs: THIRTY_DAYS_MS }]),
    () => {},
  )
  onTestFinished(() => crew.stop())
  await until('the batch sends', () => service.count('uploadFile') === 1)
  expect(crew.keepers[0]?.standing.state).toBe('sending')
  gate.resolve()
  await until('the batch is over', () => crew.keepers[0]?.standing.reason?.code === 'scheduled')
})

/** Enough for whatever waits for nothing but its turn. */
async function turnsOfTheLoop(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
