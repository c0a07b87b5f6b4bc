import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DaemonClient } from '../../src/daemon/control/client/client.ts'
import { connectToDaemon } from '../../src/daemon/control/client/connect-to-daemon.ts'
import { createMetrics } from '../../src/daemon/metrics.ts'
import { type DaemonInput, type DaemonPlan, type HealthAddress, runDaemon } from '../../src/daemon/run-and-reload.ts'
import { type Clock, systemClock } from '../../src/foundation/clock.ts'
import { InterruptedError } from '../../src/foundation/errors.ts'
import { type Logger, silentLogger } from '../../src/foundation/logger.ts'
import type { Channel, Delivery, NoticePlan } from '../../src/sync/operator/notifications.ts'
import { createProgress } from '../../src/sync/progress.ts'
import { openStateReader } from '../../src/sync/reading/state-reader.ts'
import { silentFileLog } from '../../src/sync/sinks.ts'
import { mirrorOf, openTestEngine } from '../support/engine.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { freePort } from '../support/free-port.ts'
import { manualClock } from '../support/manual-clock.ts'
import { controllerSettings, manualWatch, turnsOfTheLoop, until } from '../support/mirror-controller.ts'
import { supervisorPlan } from '../support/supervisor.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'
import { syncRequest } from './control/control-daemon.ts'

interface Given {
  readonly service?: FaultyService
  readonly clock?: Clock
  readonly openDashboard?: DaemonInput['openDashboard']
  readonly notices?: NoticePlan
  readonly mirrors?: Parameters<typeof supervisorPlan>[1]
}

/** What the next reload finds. */
interface Next {
  health: HealthAddress | null
  takenOver: number
  error: Error | undefined
}

/** A daemon in this process, without mirrors unless they are given, and the plan that the next reload gives it. */
async function startDaemon(health: HealthAddress | null, given: Given = {}) {
  const { clock = systemClock, notices, mirrors } = given
  const { openDashboard = () => Promise.reject(new Error('No dashboard is needed')) } = given
  const service = given.service ?? (await startFaultyService())
  const { engine, store, stateDir } = openTestEngine(service)
  const end = new AbortController()
  const logged: string[] = []
  const log = (message: string) => void logged.push(message)
  const logger: Logger = { ...silentLogger, info: log, error: log }
  const plans: DaemonPlan[] = []
  const disposed = new Set<DaemonPlan>()
  const planned = (address: HealthAddress | null) => {
    const dispose = async () => void disposed.add(plan)
    const supervisor = { ...supervisorPlan(engine, mirrors), [Symbol.asyncDispose]: dispose }
    const plan: DaemonPlan = { supervisor, health: address, notices, passedOver: [] }
    plans.push(plan)
    return plan
  }
  const next: Next = { health, takenOver: 0, error: undefined }
  const running = runDaemon({
    ...{ store, clock, logger, env: {}, signal: end.signal, serviceName: service.url },
    plan: planned(health),
    metrics: createMetrics(openStateReader(stateDir), '1.2.3'),
    replan: async () => {
      const takeOver = () => {
        next.takenOver += 1
      }
      if (next.error) throw next.error
      return { plan: planned(next.health), changes: [], takeOver, planWithAll: () => planned(next.health) }
    },
    openDashboard,
    onHangup: undefined,
  })
  onTestFinished(async () => {
    end.abort()
    await running
  })
  await until('it runs', () => logged.includes('the daemon has started'))
  const client = await connectToDaemon(stateDir)
  if (!client) throw new Error('It does not answer')
  return {
    ...{ next, logged, plans, client },
    isListening: () => existsSync(join(stateDir, 'control')),
    /** Has it end as after SIGTERM; resolves when it has ended. */
    end: async () => {
      end.abort(new InterruptedError())
      await running
    },
    /** Returns whether each plan was disposed of, in order. */
    disposals: () => plans.map((plan) => disposed.has(plan)),
    reload: () => client.reload(),
    forget: (name: string) => client.forget(name),
    status: () => client.status(),
  }
}

async function addressFor(isRequired = true): Promise<HealthAddress> {
  return { host: '127.0.0.1', port: await freePort(), isRequired }
}

async function isServed({ port }: HealthAddress): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

describe('reloads', () => {
  test('a reload moves the health server to its new address', async () => {
    const [first, second] = [await addressFor(), await addressFor()]
    const { next, reload } = await startDaemon(first)
    next.health = second
    await reload()
    expect([await isServed(first), await isServed(second), next.takenOver]).toEqual([false, true, 1])
    next.health = null
    await reload()
    expect(await isServed(second)).toBe(false)
  })

  test('a reload that cannot serve health changes nothing', async () => {
    const [first, taken] = [await addressFor(), await addressFor()]
    const { next, logged, plans, reload } = await startDaemon(first)
    const other = await startDaemon(taken)
    next.health = taken
    await expect(reload()).rejects.toMatchObject({ code: 'bad-configuration' })
    expect(logged).toContain('cannot use the new configuration; the old one stays in force')
    expect(
      plans.map(({ supervisor }) => supervisor.engine.signal.aborted),
      'the first supervisor continues',
    ).toEqual([false, false])
    expect([await isServed(first), next.takenOver]).toEqual([true, 0])
    other.next.health = null
    await other.reload()
    await reload()
    expect([await isServed(first), await isServed(taken), next.takenOver]).toEqual([false, true, 1])
  })
})

test('a reload that fails before anything has stopped changes nothing, whatever the reason is [F-PR-20]', async () => {
  const { next, logged, plans, reload, status } = await startDaemon(null)
  next.error = new Error('database or disk is full')
  await expect(reload()).rejects.toThrow()
  expect(logged).toContain('cannot use the new configuration; the old one stays in force')
  expect([plans.length, next.takenOver]).toEqual([1, 0])
  expect((await status()).mirrors).toEqual([])
  next.error = undefined
  await reload()
  expect(next.takenOver).toBe(1)
})

test.each([
  ['reload', (client) => client.reload()],
  ['forget a mirror', (client) => client.forget('papers')],
  ['open the dashboard', (client) => client.dashboard()],
  ['sync', (client, service) => client.sync({ ...syncRequest, service }, runOfClient())],
] satisfies [string, (client: DaemonClient, service: string) => Promise<unknown>][])(
  'a daemon that finishes an upload refuses to %s, and ends [F-PR-01]',
  async (_, ask) => {
    const service = await startFaultyService()
    const held = service.holdUploads()
    const mirror = mirrorOf(writeTree(temporaryDirectory(), { 'a.md': 'A' }))
    const openDashboard = () => expect.fail('nobody would close it')
    const mirrors = [{ controller: controllerSettings(mirror, manualWatch().means) }]
    const { client, end, logged } = await startDaemon(null, { service, openDashboard, mirrors })
    await held.begun
    const ended = end()
    await until('it ends', () => logged.includes('the daemon stops: it finishes uploads in flight'))
    const answer = await ask(client, service.url).catch((error: unknown) => error)
    const { uploading } = await client.status()
    held.release()
    await ended
    expect(answer).toMatchObject({ code: 'interrupted', message: expect.stringMatching(/^The daemon stops/) })
    expect([uploading, service.count('uploadFile')], 'the upload is finished meanwhile').toEqual([1, 1])
  },
)

function runOfClient() {
  return { signal: new AbortController().signal, progress: createProgress(), fileLog: silentFileLog }
}

test('a mirror that cannot be forgotten leaves one plan open', async () => {
  const { forget, next, disposals } = await startDaemon(null)
  await expect(forget('unknown')).rejects.toMatchObject({ code: 'unknown-mirror' })
  expect(disposals(), 'the first plan, the plan without the mirror, and the plan in force').toEqual([true, true, false])
  expect(next.takenOver).toBe(1)
})

describe('notices', () => {
  const NOTICE = expect.stringMatching(/^shelfd on here: Gone: .*\/no\/such\/directory/)

  /** A daemon whose only mirror is stopped; `sent` are the notices that it sends, which end as `deliver` says. */
  async function startStopped(deliver: () => Promise<Delivery>) {
    const sent: string[] = []
    const channel: Channel = {
      name: 'test',
      send: ({ subject }) => {
        sent.push(subject)
        return deliver()
      },
    }
    const clock = manualClock()
    const mirror = { ...mirrorOf(temporaryDirectory()), name: 'Gone', path: '/no/such/directory' }
    const daemon = await startDaemon(null, {
      clock,
      notices: { channels: [channel], overdueMs: null, host: 'here' },
      mirrors: [{ controller: controllerSettings(mirror, manualWatch().means) }],
    })
    const untilSent = (count: number) =>
      until('it is notified', () => {
        void clock.advance(15_000)
        return sent.length >= count
      })
    return { ...daemon, clock, sent, untilSent }
  }

  test('a daemon notifies once of a mirror that is stopped, also after a reload', async () => {
    const { clock, reload, sent, status, untilSent } = await startStopped(async () => ({ kind: 'sent' }))
    await untilSent(1)
    await reload()
    await expect.poll(async () => (await status()).mirrors[0]?.reason?.code, { timeout: 30_000 }).toBe('root-missing')
    for (let beats = 0; beats < 12; beats += 1) await clock.advance(15_000)
    expect(sent).toEqual([NOTICE])
  })

  test('a notice that reaches nobody during a reload is sent again', async () => {
    const first = Promise.withResolvers<Delivery>()
    const deliveries = [first.promise]
    const sends = () => deliveries.shift() ?? Promise.resolve<Delivery>({ kind: 'sent' })
    const { disposals, reload, sent, untilSent } = await startStopped(sends)
    await untilSent(1)
    const reloaded = reload()
    await until('the old supervisor has ended', () => disposals()[0] === true)
    first.resolve({ kind: 'not-sent', reason: 'no network' })
    await reloaded
    await untilSent(2)
    expect(sent).toEqual([NOTICE, NOTICE])
  })

  test('a daemon ends once it knows whether a notice arrived', async () => {
    const first = Promise.withResolvers<Delivery>()
    const { end, isListening, logged, untilSent } = await startStopped(() => first.promise)
    await untilSent(1)
    const ended = end()
    await until('all else has ended', () => !isListening())
    await turnsOfTheLoop()
    expect(logged).not.toContain('the daemon has ended')
    first.resolve({ kind: 'not-sent', reason: 'no network' })
    await ended
  })
})
