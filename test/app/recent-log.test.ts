import { expect, test } from 'vitest'
import { recordRecent } from '../../src/app/create-logger.ts'
import { silentLogger } from '../../src/foundation/logger.ts'

test('the last 500 lines are kept, redacted, without those for finding faults', () => {
  const passed: string[] = []
  const { logger, recent } = recordRecent(
    { ...silentLogger, info: (message) => void passed.push(message), debug: (message) => void passed.push(message) },
    (text) => text.replaceAll('canary', '***'),
  )
  logger.debug('hidden')
  for (let n = 1; n <= 501; n += 1) logger.info(`line ${n}`, { token: 'canary' })
  logger.warn('careful')
  expect(passed.length).toBe(502)
  const lines = recent.list()
  expect([lines.length, recent.last]).toEqual([500, 502])
  expect(lines[0]).toMatchObject({ number: 3, level: 'info', text: 'line 3 token=***' })
  expect(lines.at(-1)).toMatchObject({ number: 502, level: 'warn', text: 'careful' })
})
