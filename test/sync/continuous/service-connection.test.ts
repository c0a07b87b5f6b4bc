import { describe, expect, test } from 'vitest'
import { AccessError, InterruptedError, TemporaryError } from '../../../src/foundation/errors.ts'
import { type Logger, silentLogger } from '../../../src/foundation/logger.ts'
import { timeOfDay } from '../../../src/foundation/text/times.ts'
import type { Outage, OutageListener } from '../../../src/remote/policies/outage.ts'
import { ServiceConnection } from '../../../src/sync/continuous/service-connection.ts'
import { openTestEngine, startEngine } from '../../support/engine.ts'
import { type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { lazyService } from '../../support/lazy-service.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/mirror-controller.ts'

const FIRST_INTERVAL_MS = 2_500
const MAX_DELAY_MS = 120_000

function openConnection(service: FaultyService) {
  const clock = manualClock()
  const logged: string[] = []
  const log = (message: string) => void logged.push(message)
  const logger: Logger = { ...silentLogger, info: log, warn: log, error: log }
  const { engine } = openTestEngine(service, { clock })
  const fatal: unknown[] = []
  const notified = { changes: 0 }
  const onChange = () => {
    notified.changes += 1
  }
  const listeners = new Set<OutageListener>()
  const onOutage = (listener: OutageListener) => {
    listeners.add(listener)
    return { [Symbol.dispose]: () => void listeners.delete(listener) }
  }
  const reportOutage: OutageListener = (outage) => {
    for (const listener of listeners) listener(outage)
  }
  const observed = { ...engine, logger, random: () => 0, service: { ...engine.service, onOutage } }
  const connection = new ServiceConnection(observed, { onChange, onFatal: (error) => void fatal.push(error) })
  return { connection, reportOutage, clock, logged, fatal, notified }
}

const AWAY = new TemporaryError('service-unreachable', 'it is away')

const AWAY_AFTER_MS = 10_000
const PROBE_INTERVAL_MS = 10_000
const OUTAGE: Outage = {
  origin: 'https://library.example.com',
  code: 'service-unavailable',
  cause: '503, service unavailable',
  sinceMs: 0,
  nextTryAtMs: null,
  givesUpAtMs: null,
  askedUntilMs: null,
}

describe('an outage of the service', () => {
  test('an outage of 10 seconds is reported while requests are retried', async () => {
    await using service = await startFaultyService()
    const { connection, clock, logged, reportOutage } = openConnection(service)
    await connection.open()
    reportOutage(OUTAGE)
    await clock.advance(AWAY_AFTER_MS - 1)
    reportOutage({ ...OUTAGE, nextTryAtMs: 1 })
    expect(connection.status.state).toBe('connected')
    await clock.advance(1)
    expect(connection.status).toMatchObject({
      state: 'away',
      reason: {
        code: 'service-unavailable',
        message: `${OUTAGE.origin} cannot answer requests now (503, service unavailable)`,
      },
    })
    reportOutage(null)
    expect(connection.status.state).toBe('connected')
    expect(logged).toEqual(['the service is away: shelfd waits until it answers', 'the service is back'])
    await connection.close()
  })

  test('an outage is described by its cause and its end', async () => {
    await using service = await startFaultyService()
    const { connection, clock, logged, reportOutage } = openConnection(service)
    await connection.open()
    reportOutage({ ...OUTAGE, code: 'service-unreachable', cause: 'connection refused' })
    await clock.advance(AWAY_AFTER_MS)
    const message = () => connection.status.reason?.message
    expect(message()).toBe(`${OUTAGE.origin} does not answer (connection refused)`)
    const throttled = { ...OUTAGE, code: 'service-throttling', cause: '429, too many requests' } as const
    for (const minutes of [1, 2]) {
      const askedUntilMs = clock.nowMs() + minutes * 60_000
      reportOutage({ ...throttled, askedUntilMs })
      const until = timeOfDay(askedUntilMs, clock.nowMs())
      expect(message()).toBe(`${OUTAGE.origin} asks to wait until ${until} (429, too many requests)`)
    }
    expect(logged).toEqual(['the service is away: shelfd waits until it answers'])
    await connection.close()
  })

  test('a short outage is not reported', async () => {
    await using service = await startFaultyService()
    const { connection, clock, logged, reportOutage } = openConnection(service)
    await connection.open()
    for (let blip = 0; blip < 3; blip += 1) {
      reportOutage(OUTAGE)
      await clock.advance(AWAY_AFTER_MS - 1)
      reportOutage(null)
    }
    await clock.advance(AWAY_AFTER_MS)
    expect(connection.status.state).toBe('connected')
    expect(logged).toEqual([])
    await connection.close()
  })

  test('an outage ends with the connection that met it', async () => {
    await using service = await startFaultyService()
    const { connection, clock, reportOutage } = openConnection(service)
    await connection.open()
    reportOutage(OUTAGE)
    await connection.recordFailure(AWAY)
    await connection.open()
    await clock.advance(AWAY_AFTER_MS)
    expect(connection.status.state).toBe('connected')
    reportOutage(OUTAGE)
    await clock.advance(AWAY_AFTER_MS)
    expect(connection.status.state).toBe('away')
    await connection.close()
  })
})

test('an idle connection is tested when its status is asked for', async () => {
  await using service = await startFaultyService()
  const { connection, clock } = openConnection(service)
  await connection.open()
  const ask = () => service.count('checkAccess')
  await connection.probe()
  expect(ask()).toBe(1)
  await clock.advance(PROBE_INTERVAL_MS)
  await Promise.all([connection.probe(), connection.probe()])
  await connection.probe()
  expect(ask()).toBe(2)
  expect(connection.status.state).toBe('connected')
  service.answer = () => ({ status: 503, body: {} })
  await clock.advance(PROBE_INTERVAL_MS)
  await connection.probe()
  expect(connection.status).toMatchObject({ state: 'away', reason: { code: 'service-unavailable' } })
})

test('an idle connection learns that the credential was revoked [F-SV-06]', async () => {
  await using service = await startFaultyService()
  const { connection, clock, fatal } = openConnection(service)
  await connection.open()
  service.answer = () => ({ status: 401, body: {} })
  await clock.advance(PROBE_INTERVAL_MS)
  await connection.probe()
  expect(connection.status).toMatchObject({ state: 'refused', reason: { code: 'credential-refused' } })
  expect(fatal).toEqual([])
})

describe('the connection to the service', () => {
  test('the connection is opened once for all callers', async () => {
    await using service = await startFaultyService()
    const { connection } = openConnection(service)
    const [one, two] = await Promise.all([connection.open(), connection.open()])
    expect(one).toBe(two)
    expect(service.count('checkAccess')).toBe(1)
    expect(connection.status.state).toBe('connected')
    await connection.close()
    expect(connection.follower).toBeUndefined()
  })

  test('failures at the same time count as one', async () => {
    await using service = await startFaultyService()
    const { connection, clock, logged, notified } = openConnection(service)
    await connection.open()
    for (let mirror = 0; mirror < 10; mirror += 1) await connection.recordFailure(AWAY)
    expect(connection.retryAtMs).toBe(FIRST_INTERVAL_MS)
    expect(connection.status).toMatchObject({ state: 'away', reason: { code: 'service-unreachable' } })
    await clock.advance(FIRST_INTERVAL_MS)
    for (let mirror = 0; mirror < 10; mirror += 1) await connection.recordFailure(AWAY)
    expect(connection.retryAtMs).toBe(FIRST_INTERVAL_MS * 3)
    expect(logged).toHaveLength(1)
    expect(notified.changes, 'connected, and each failure').toBe(3)
  })

  test('the retry delay grows until something succeeds', async () => {
    await using service = await startFaultyService()
    const { connection, clock, logged } = openConnection(service)
    let delayMs = 0
    for (let failure = 0; failure < 10; failure += 1) {
      await connection.recordFailure(AWAY)
      delayMs = connection.retryAtMs - clock.monotonicMs()
      await clock.advance(delayMs)
    }
    expect(delayMs).toBe(MAX_DELAY_MS / 2)
    await connection.open()
    expect(logged).toEqual([expect.stringContaining('away'), 'the service is back'])
    connection.recordSuccess()
    await connection.recordFailure(AWAY)
    expect(connection.retryAtMs - clock.monotonicMs()).toBe(FIRST_INTERVAL_MS)
  })

  test('a refusal after an outage is reported anew', async () => {
    await using service = await startFaultyService()
    const { connection, logged } = openConnection(service)
    await connection.recordFailure(AWAY)
    await connection.recordFailure(new AccessError('credential-refused', 'no'))
    expect(connection.status).toMatchObject({ state: 'refused', reason: { code: 'credential-refused' } })
    expect(logged).toHaveLength(2)
  })
})

describe('a closed connection', () => {
  /** A connection over real sockets whose follower polls one resource that is in ingestion, and which no poll finds done. */
  async function followedConnection(wrap: Parameters<typeof startEngine>[1] = {}) {
    const { service, tested, engine, mirror } = await startEngine(
      { 'a.md': 'a' },
      { service: { library: 'Test' }, ...wrap },
    )
    service.rewrite = ({ route }, body) =>
      route === 'showResource' ? { ...body, ingestion_status: 'processing' } : body
    await tested.sync([mirror], { waitMs: 0 })
    const fatal: unknown[] = []
    const lazy = lazyService(service)
    const hooks = { onChange() {}, onFatal: (error: unknown) => void fatal.push(error) }
    const [row] = engine.store.mirrors.list()
    if (!row) throw new Error('The mirror is not known')
    return { service, engine, lazy, row, hooks, fatal }
  }

  test('a connection that a failure closes is not opened again', async () => {
    const { service, engine, lazy, row, hooks, fatal } = await followedConnection()
    const connection = new ServiceConnection({ ...engine, service: lazy }, hooks)
    const polled = Promise.withResolvers<void>()
    const latch = Promise.withResolvers<void>()
    service.onResponse = ({ route }) => {
      if (route !== 'showResource') return
      polled.resolve()
      return latch.promise
    }
    const { follower } = await connection.open()
    follower.add(row)
    await polled.promise
    const failing = connection.recordFailure(AWAY)
    const opening = connection.open()
    latch.resolve()
    await failing
    const { client } = (await opening).connection
    expect((await client.checkAccess()).libraries).toHaveLength(1)
    expect(await connection.open()).toBe(await opening)
    expect(fatal).toEqual([])
    await connection.close()
  })

  test('a connection that closes as it opens is opened again', async () => {
    const { engine, lazy, hooks } = await followedConnection()
    const closing: Promise<void>[] = []
    const connect = async (signal: AbortSignal) => {
      const connected = await lazy.connect(signal)
      if (closing.length === 0) closing.push(connection.recordFailure(AWAY))
      return connected
    }
    const connection = new ServiceConnection({ ...engine, service: { ...lazy, connect } }, hooks)
    const { client } = (await connection.open()).connection
    await Promise.all(closing)
    expect((await client.checkAccess()).libraries).toHaveLength(1)
    await connection.close()
  })

  test('an interrupted poll closes the connection and nothing else', async () => {
    const pollResource = () => Promise.reject(new InterruptedError())
    const { engine, row, hooks, fatal } = await followedConnection({
      wrapClient: (client) => ({ ...client, pollResource }),
    })
    const connection = new ServiceConnection(engine, hooks)
    const { follower } = await connection.open()
    follower.add(row)
    await until('the connection is given up', () => connection.status.state !== 'connected')
    expect(connection.status).toMatchObject({ state: 'away', reason: { code: 'interrupted' } })
    expect(fatal).toEqual([])
  })
})
