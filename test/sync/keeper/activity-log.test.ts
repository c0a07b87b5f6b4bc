import { expect, test } from 'vitest'
import { type LogFields, silentLogger } from '../../../src/foundation/logger.ts'
import { emptySummary, type SyncSummary } from '../../../src/rules/sync-summary.ts'
import { ActivityLog } from '../../../src/sync/keeper/activity-log.ts'
import { manualClock } from '../../support/manual-clock.ts'

const PAUSE_MS = 5 * 60_000

function ranWith(created: number, bytes: number): SyncSummary {
  const library = { id: null, name: 'Research' }
  const summary = emptySummary({ name: 'papers', path: '/papers', remotePath: '/Papers', library })
  Object.assign(summary.uploads, { created, bytes })
  return summary
}

test('many runs are told in one line, completely', async () => {
  const clock = manualClock()
  const said: LogFields[] = []
  const logger = { ...silentLogger, info: (_: string, fields: LogFields = {}) => void said.push(fields) }
  const log = new ActivityLog({ clock, logger }, 'papers')
  for (let run = 0; run < 10; run += 1) log.add(ranWith(1, 10))
  expect(said).toEqual([{ mirror: 'papers', created: 1, bytes: 10 }])
  await clock.advance(PAUSE_MS)
  log.add(ranWith(0, 0))
  expect(said[1]).toEqual({ mirror: 'papers', created: 9, bytes: 90 })
  log.add(ranWith(2, 20))
  log.flush()
  log.flush()
  expect(said.slice(2)).toEqual([{ mirror: 'papers', created: 2, bytes: 20 }])
})

test('runs that sent nothing are not told', () => {
  const said: unknown[] = []
  const logger = { ...silentLogger, info: (message: string) => void said.push(message) }
  const log = new ActivityLog({ clock: manualClock(), logger }, 'papers')
  log.add(ranWith(0, 0))
  log.flush()
  expect(said).toEqual([])
})
