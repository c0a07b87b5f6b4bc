import { beforeEach, describe, expect, test } from 'vitest'
import { withoutRepeats } from '../../src/daemon/without-repeats.ts'
import type { LogFields, Logger } from '../../src/foundation/logger.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'

const TEN_MINUTES_MS = 600_000

let clock: ManualClock
let logged: [level: string, message: string, fields: LogFields | undefined][]
let logger: Logger

beforeEach(() => {
  clock = manualClock()
  logged = []
  const at = (level: string) => (message: string, fields?: LogFields) => void logged.push([level, message, fields])
  logger = withoutRepeats({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, clock)
})

describe('repeated lines', () => {
  test('a repeated line is logged once in ten minutes, then counted', async () => {
    for (let minute = 0; minute < 10; minute += 1) {
      logger.warn('away', { mirror: 'papers', code: 'late', tries: minute })
      await clock.advance(60_000)
    }
    expect(logged).toEqual([['warn', 'away', { mirror: 'papers', code: 'late', tries: 0 }]])
    logger.warn('away', { mirror: 'papers', code: 'late' })
    expect(logged[1]).toEqual(['warn', 'away', { mirror: 'papers', code: 'late', repeated: 9 }])
  })

  test('lines of another mirror, code, level or message are logged', () => {
    logger.warn('away', { mirror: 'papers', code: 'late' })
    logger.warn('away', { mirror: 'mail', code: 'late' })
    logger.warn('away', { mirror: 'papers', code: 'gone' })
    logger.error('away', { mirror: 'papers', code: 'late' })
    logger.warn('back', { mirror: 'papers', code: 'late' })
    expect(logged).toHaveLength(5)
  })

  test('repeats are measured by elapsed time, not by clocks', () => {
    logger.info('away', { mirror: 'papers' })
    clock.jump(10 * TEN_MINUTES_MS)
    logger.info('away', { mirror: 'papers' })
    expect(logged).toHaveLength(1)
  })
})

describe('lines that are always logged', () => {
  test('every debug line is logged', () => {
    for (let count = 0; count < 3; count += 1) logger.debug('details')
    expect(logged).toHaveLength(3)
  })

  test('every line with counts of sent files is logged', () => {
    for (let count = 0; count < 3; count += 1) logger.info('sent', { mirror: 'papers', created: count })
    expect(logged.map(([, , fields]) => fields?.created)).toEqual([0, 1, 2])
  })

  test('every line about the configuration is logged', () => {
    for (const reason of ['line 1 is wrong', 'line 2 is wrong', 'line 2 is wrong']) {
      logger.error('cannot use the new configuration; the old one stays in force', { reason })
    }
    for (const changes of [['a: 1 → 2'], ['a: 2 → 3']]) logger.info('the configuration was read again', { changes })
    expect(logged).toHaveLength(4)
  })
})

test('the memory of repeated lines stays bounded [P21]', () => {
  for (let count = 0; count < 1_001; count += 1) logger.info('away', { mirror: `${count}` })
  logger.info('away', { mirror: '1' })
  expect(logged).toHaveLength(1_001)
  logger.info('away', { mirror: '0' })
  expect(logged, 'the oldest is forgotten').toHaveLength(1_002)
})
