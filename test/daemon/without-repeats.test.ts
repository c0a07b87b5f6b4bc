import { beforeEach, describe, expect, test } from 'vitest'
import { withoutRepeats } from '../../src/daemon/without-repeats.ts'
import type { LogFields, Logger } from '../../src/foundation/logger.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'

const TEN_MINUTES_MS = 600_000

let clock: ManualClock
let said: [level: string, message: string, fields: LogFields | undefined][]
let logger: Logger

beforeEach(() => {
  clock = manualClock()
  said = []
  const at = (level: string) => (message: string, fields?: LogFields) => void said.push([level, message, fields])
  logger = withoutRepeats({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, clock)
})

describe('the same of the same mirror', () => {
  test('is said once in ten minutes, then counted', async () => {
    for (let minute = 0; minute < 10; minute += 1) {
      logger.warn('away', { mirror: 'papers', code: 'late', tries: minute })
      await clock.advance(60_000)
    }
    expect(said).toEqual([['warn', 'away', { mirror: 'papers', code: 'late', tries: 0 }]])
    logger.warn('away', { mirror: 'papers', code: 'late' })
    expect(said[1]).toEqual(['warn', 'away', { mirror: 'papers', code: 'late', repeated: 9 }])
  })

  test('hides no other mirror, code, level or message', () => {
    logger.warn('away', { mirror: 'papers', code: 'late' })
    logger.warn('away', { mirror: 'mail', code: 'late' })
    logger.warn('away', { mirror: 'papers', code: 'gone' })
    logger.error('away', { mirror: 'papers', code: 'late' })
    logger.warn('back', { mirror: 'papers', code: 'late' })
    expect(said).toHaveLength(5)
  })

  test('is told apart by time that passed, not by clocks', () => {
    logger.info('away', { mirror: 'papers' })
    clock.jump(10 * TEN_MINUTES_MS)
    logger.info('away', { mirror: 'papers' })
    expect(said).toHaveLength(1)
  })
})

describe('what is never left out', () => {
  test('is debugging', () => {
    for (let count = 0; count < 3; count += 1) logger.debug('details')
    expect(said).toHaveLength(3)
  })

  test('are the numbers of what was sent', () => {
    for (let count = 0; count < 3; count += 1) logger.info('sent', { mirror: 'papers', created: count })
    expect(said.map(([, , fields]) => fields?.created)).toEqual([0, 1, 2])
  })

  test('are answers to those who mend the configuration', () => {
    for (const reason of ['line 1 is wrong', 'line 2 is wrong', 'line 2 is wrong']) {
      logger.error('cannot use the new configuration; the old one stays in force', { reason })
    }
    for (const changes of [['a: 1 → 2'], ['a: 2 → 3']]) logger.info('the configuration was read again', { changes })
    expect(said).toHaveLength(4)
  })
})

test('memory stays bounded, whatever is said', () => {
  for (let count = 0; count < 1_001; count += 1) logger.info('away', { mirror: `${count}` })
  logger.info('away', { mirror: '1' })
  expect(said).toHaveLength(1_001)
  logger.info('away', { mirror: '0' })
  expect(said, 'the oldest is forgotten').toHaveLength(1_002)
})
