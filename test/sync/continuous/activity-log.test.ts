import { expect, test } from 'vitest'
import { type LogFields, silentLogger } from '../../../src/foundation/logger.ts'
import { emptySummary, type SyncSummary } from '../../../src/rules/sync-summary.ts'
import { ActivityLog } from '../../../src/sync/continuous/activity-log.ts'
import { manualClock } from '../../support/manual-clock.ts'

const INTERVAL_MS = 5 * 60_000

function ranWith(created: number, bytes: number): SyncSummary {
  const library = { id: null, name: 'Research' }
  const summary = emptySummary({ name: 'papers', path: '/papers', remotePath: '/Papers', library })
  Object.assign(summary.uploads, { created, bytes })
  return summary
}

test('many runs are reported in one line with complete sums', async () => {
  const clock = manualClock()
  const logged: LogFields[] = []
  const logger = { ...silentLogger, info: (_: string, fields: LogFields = {}) => void logged.push(fields) }
  const log = new ActivityLog({ clock, logger }, 'papers')
  for (let run = 0; run < 10; run += 1) log.add(ranWith(1, 10))
  expect(logged).toEqual([{ mirror: 'papers', created: 1, bytes: 10 }])
  await clock.advance(INTERVAL_MS)
  log.add(ranWith(0, 0))
  expect(logged[1]).toEqual({ mirror: 'papers', created: 9, bytes: 90 })
  log.add(ranWith(2, 20))
  log.flush()
  log.flush()
  expect(logged.slice(2)).toEqual([{ mirror: 'papers', created: 2, bytes: 20 }])
})

test('a run whose uploads all failed is not reported as sent', () => {
  const logged: unknown[] = []
  const logger = { ...silentLogger, info: (...line: unknown[]) => void logged.push(line) }
  const log = new ActivityLog({ clock: manualClock(), logger }, 'papers')
  const failed = ranWith(0, 0)
  failed.uploads.failed = 2
  log.add(failed)
  expect(logged).toEqual([['uploads failed', { mirror: 'papers', failed: 2 }]])
})

test('a run that sent nothing is not reported', () => {
  const logged: unknown[] = []
  const logger = { ...silentLogger, info: (message: string) => void logged.push(message) }
  const log = new ActivityLog({ clock: manualClock(), logger }, 'papers')
  log.add(ranWith(0, 0))
  log.flush()
  expect(logged).toEqual([])
})

test('each file is named, until there are too many in a minute', async () => {
  const clock = manualClock()
  const logged: (LogFields & { message: string })[] = []
  const logger = {
    ...silentLogger,
    info: (message: string, fields: LogFields = {}) => void logged.push({ message, ...fields }),
  }
  const log = new ActivityLog({ clock, logger }, 'papers')
  const send = (count: number) => {
    for (let file = 0; file < count; file += 1)
      log.sent({ mirror: 'papers', path: `${file}.md`, sizeBytes: 10, resourceId: `r${file}`, isDuplicate: false })
    log.add(ranWith(count, count * 10))
  }
  send(60)
  expect(logged).toHaveLength(60)
  expect(logged[0]).toEqual({ message: 'sent', mirror: 'papers', path: '0.md', resourceId: 'r0', bytes: 10 })
  send(40)
  expect(logged.slice(60)).toEqual([{ message: 'sent besides', mirror: 'papers', created: 40, bytes: 400 }])
  await clock.advance(60_000)
  send(1)
  expect(logged.slice(61)).toEqual([{ message: 'sent', mirror: 'papers', path: '0.md', resourceId: 'r0', bytes: 10 }])
})
