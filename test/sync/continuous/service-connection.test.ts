import { describe, expect, test } from 'vitest'
import { RefusedError, TemporaryError } from '../../../src/foundation/errors.ts'
import { type Logger, silentLogger } from '../../../src/foundation/logger.ts'
import { timeOfDay } from '../../../src/foundation/text/time-of-day.ts'
import type { Outage, OutageListener } from '../../../src/remote/policies/outage.ts'
import { ServiceConnection } from '../../../src/sync/continuous/service-connection.ts'
import { openTestEngine } from '../../support/engine.ts'
import { type FaultyService, startFaultyService } from '../../support/faulty-service.ts'
import { manualClock } from '../../support/manual-clock.ts'

const FIRST_PAUSE_MS = 2_500
const LONGEST_PAUSE_MS = 120_000

function openLine(service: FaultyService) {
  const clock = manualClock()
  const said: string[] = []
  const say = (message: string) => void said.push(message)
  const logger: Logger = { ...silentLogger, info: say, warn: say, error: say }
  const { engine } = openTestEngine(service, { clock })
  const fatal: unknown[] = []
  const told = { changes: 0 }
  const onChange = () => {
    told.changes += 1
  }
  const hooks = { onChange, onFatal: (error: unknown) => void fatal.push(error) }
  const listeners = new Set<OutageListener>()
  const onOutage = (listener: OutageListener) => {
    listeners.add(listener)
    return { [Symbol.dispose]: () => void listeners.delete(listener) }
  }
  const tellOutage: OutageListener = (outage) => {
    for (const listener of listeners) listener(outage)
  }
  const line = new ServiceConnection(
    { ...engine, logger, random: () => 0, service: { ...engine.service, onOutage } },
    hooks,
  )
  return { line, tellOutage, clock, said, fatal, told }
}

const AWAY = new TemporaryError('service-unreachable', 'it is away')

const AWAY_AFTER_MS = 10_000
const PROBE_PAUSE_MS = 10_000
const OUTAGE: Outage = {
  origin: 'https://library.example.com',
  code: 'service-unavailable',
  cause: '503, service unavailable',
  sinceMs: 0,
  nextTryAtMs: null,
  untilMs: null,
  askedUntilMs: null,
}

describe('an outage of the service', () => {
  test('is known while requests are still tried again', async () => {
    await using service = await startFaultyService()
    const { line, clock, said, tellOutage } = openLine(service)
    await line.open()
    tellOutage(OUTAGE)
    await clock.advance(AWAY_AFTER_MS - 1)
    tellOutage({ ...OUTAGE, nextTryAtMs: 1 })
    expect(line.status.state).toBe('connected')
    await clock.advance(1)
    expect(line.status).toMatchObject({
      state: 'away',
      reason: {
        code: 'service-unavailable',
        message: `${OUTAGE.origin} cannot answer requests now (503, service unavailable)`,
      },
    })
    tellOutage(null)
    expect(line.status.state).toBe('connected')
    expect(said).toEqual(['the service is away: shelfd waits until it answers', 'the service is back'])
    await line.close()
  })

  test('is told by what it is, and until when', async () => {
    await using service = await startFaultyService()
    const { line, clock, said, tellOutage } = openLine(service)
    await line.open()
    tellOutage({ ...OUTAGE, code: 'service-unreachable', cause: 'connection refused' })
    await clock.advance(AWAY_AFTER_MS)
    const message = () => line.status.reason?.message
    expect(message()).toBe(`${OUTAGE.origin} does not answer (connection refused)`)
    const throttled = { ...OUTAGE, code: 'service-throttling', cause: '429, too many requests' } as const
    for (const minutes of [1, 2]) {
      const askedUntilMs = clock.nowMs() + minutes * 60_000
      tellOutage({ ...throttled, askedUntilMs })
      const until = timeOfDay(askedUntilMs, clock.nowMs())
      expect(message()).toBe(`${OUTAGE.origin} asks to wait until ${until} (429, too many requests)`)
    }
    expect(said).toEqual(['the service is away: shelfd waits until it answers'])
    await line.close()
  })

  test('that is soon over is not told', async () => {
    await using service = await startFaultyService()
    const { line, clock, said, tellOutage } = openLine(service)
    await line.open()
    for (let blip = 0; blip < 3; blip += 1) {
      tellOutage(OUTAGE)
      await clock.advance(AWAY_AFTER_MS - 1)
      tellOutage(null)
    }
    await clock.advance(AWAY_AFTER_MS)
    expect(line.status.state).toBe('connected')
    expect(said).toEqual([])
    await line.close()
  })

  test('ends with the line that met it', async () => {
    await using service = await startFaultyService()
    const { line, clock, tellOutage } = openLine(service)
    await line.open()
    tellOutage(OUTAGE)
    await line.recordFailure(AWAY)
    await line.open()
    await clock.advance(AWAY_AFTER_MS)
    expect(line.status.state).toBe('connected')
    tellOutage(OUTAGE)
    await clock.advance(AWAY_AFTER_MS)
    expect(line.status.state).toBe('away')
    await line.close()
  })
})

describe('a line that nobody uses', () => {
  test('is tried when somebody asks how it stands', async () => {
    await using service = await startFaultyService()
    const { line, clock } = openLine(service)
    await line.open()
    const ask = () => service.count('checkAccess')
    await line.probe()
    expect(ask()).toBe(1)
    await clock.advance(PROBE_PAUSE_MS)
    await Promise.all([line.probe(), line.probe()])
    await line.probe()
    expect(ask()).toBe(2)
    expect(line.status.state).toBe('connected')
    service.answer = () => ({ status: 503, body: {} })
    await clock.advance(PROBE_PAUSE_MS)
    await line.probe()
    expect(line.status).toMatchObject({ state: 'away', reason: { code: 'service-unavailable' } })
  })

  test('learns that the credential was taken back', async () => {
    await using service = await startFaultyService()
    const { line, clock, fatal } = openLine(service)
    await line.open()
    service.answer = () => ({ status: 401, body: {} })
    await clock.advance(PROBE_PAUSE_MS)
    await line.probe()
    expect(line.status).toMatchObject({ state: 'refused', reason: { code: 'credential-refused' } })
    expect(fatal).toEqual([])
  })
})

describe('the line to the service', () => {
  test('is opened once for all who ask', async () => {
    await using service = await startFaultyService()
    const { line } = openLine(service)
    const [one, two] = await Promise.all([line.open(), line.open()])
    expect(one).toBe(two)
    expect(service.count('checkAccess')).toBe(1)
    expect(line.status.state).toBe('connected')
    await line.close()
    expect(line.follower).toBeUndefined()
  })

  test('takes what fails together for one failure', async () => {
    await using service = await startFaultyService()
    const { line, clock, said, told } = openLine(service)
    await line.open()
    for (let mirror = 0; mirror < 10; mirror += 1) await line.recordFailure(AWAY)
    expect(line.retryAtMs).toBe(FIRST_PAUSE_MS)
    expect(line.status).toMatchObject({ state: 'away', reason: { code: 'service-unreachable' } })
    await clock.advance(FIRST_PAUSE_MS)
    for (let mirror = 0; mirror < 10; mirror += 1) await line.recordFailure(AWAY)
    expect(line.retryAtMs).toBe(FIRST_PAUSE_MS * 3)
    expect(said).toHaveLength(1)
    expect(told.changes, 'connected, and each failure').toBe(3)
  })

  test('makes pauses that grow until something succeeds', async () => {
    await using service = await startFaultyService()
    const { line, clock, said } = openLine(service)
    let pauseMs = 0
    for (let failure = 0; failure < 10; failure += 1) {
      await line.recordFailure(AWAY)
      pauseMs = line.retryAtMs - clock.monotonicMs()
      await clock.advance(pauseMs)
    }
    expect(pauseMs).toBe(LONGEST_PAUSE_MS / 2)
    await line.open()
    expect(said).toEqual([expect.stringContaining('away'), 'the service is back'])
    line.recordSuccess()
    await line.recordFailure(AWAY)
    expect(line.retryAtMs - clock.monotonicMs()).toBe(FIRST_PAUSE_MS)
  })

  test('says anew when a refusal follows', async () => {
    await using service = await startFaultyService()
    const { line, said } = openLine(service)
    await line.recordFailure(AWAY)
    await line.recordFailure(new RefusedError('credential-refused', 'no'))
    expect(line.status).toMatchObject({ state: 'refused', reason: { code: 'credential-refused' } })
    expect(said).toHaveLength(2)
  })
})
