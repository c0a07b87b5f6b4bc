import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/foundation/clock.ts'
import { silentLogger } from '../../src/foundation/logger.ts'
import { PlannedDatabase } from '../../src/foundation/sqlite/open-database.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openStore } from '../../src/store/open-store.ts'
import { Membership } from '../../src/sync/fleet/membership.ts'
import { MemoryLedger } from '../ledger/memory-ledger.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const RECEIPTS = 25_000

test('a host that joins with many receipts brings them in bounded steps, also after it was interrupted', async () => {
  const directory = temporaryDirectory()
  using store = openStore(directory)
  const database = new PlannedDatabase(join(directory, 'store.db'))
  onTestFinished(() => void database.close())
  database.exec(`INSERT INTO library VALUES (1, 'https://library.example', 1, 'l', 'Library', 0);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RECEIPTS})
    INSERT INTO content (library_id, sha256, mime, size, state, resource_id) SELECT 1, randomblob(32), 'text/plain', 1, 'stored', i FROM n`)
  const waiting = database.prepare<[], { n: number }>('SELECT count(*) AS n FROM settlement')
  const shared = new MemoryLedger(systemClock)
  let [settled, longest, calls] = [0, 0, 0]
  const connect = async (): Promise<Ledger> => {
    const ledger = shared.connect()
    return {
      ...ledger,
      settle: async (hostId, batch, ends) => {
        calls += 1
        if (calls === 5) stop.abort(new Error('stopped'))
        if (calls === 30) throw new Error('interrupted')
        settled += ends.length
        longest = Math.max(longest, waiting.get()?.n ?? 0)
        return await ledger.settle(hostId, batch, ends)
      },
    }
  }
  const stop = new AbortController()
  const joinFleet = async (signal = new AbortController().signal) => {
    await using fleet = new Membership(
      { store, clock: systemClock, random: Math.random, logger: silentLogger, signal },
      {
        ...{ connect, name: 'nas', version: '1.0.0', limits: { newPerDay: null } },
        ...{ bootMs: systemClock.monotonicMs, retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 } },
      },
    )
    await fleet.join()
  }
  await expect(joinFleet(stop.signal)).rejects.toThrow('stopped')
  expect(settled).toBeLessThanOrEqual(10_000)
  await expect(joinFleet()).rejects.toThrow('interrupted')
  await joinFleet()
  expect(settled).toBe(RECEIPTS)
  expect(longest).toBeLessThanOrEqual(10_000)
})
