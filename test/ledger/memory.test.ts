import { describe } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { manualClock } from '../support/manual-clock.ts'
import { MemoryLedger } from './memory-ledger.ts'
import type { Loss } from './memory-rows.ts'
import { describeLedger } from './suite.ts'
import type { LedgerUnderTest } from './test-host.ts'

const clock = manualClock(Date.now())
const memory = new MemoryLedger(clock)
const losses = new Map<Ledger, Loss>()

const target: LedgerUnderTest = {
  connect: () => {
    const ledger: Ledger = memory.connect(() => {
      const loss = losses.get(ledger)
      losses.delete(ledger)
      return loss
    })
    return ledger
  },
  nowMs: () => clock.nowMs(),
  passTime: (durationMs) => clock.advance(durationMs),
  lose: (ledger, loss) => void losses.set(ledger, loss),
  giveOrder: async (hostId, order) => memory.giveOrder(hostId, order),
  view: memory.published,
  countExtraSends: async (library) => memory.countExtraSends(library),
  mark: async () => {
    const before = memory.commits
    return async () => memory.loseCommits(memory.commits - before)
  },
}

describe('the ledger in memory', () => describeLedger(() => target))
