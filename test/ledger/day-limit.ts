import type { Clock } from '../../src/foundation/clock.ts'
import type { ClaimResult, LedgerLibrary, ServiceUse } from '../../src/ledger/ledger.ts'
import type { Journal, JournalTable } from './journal.ts'

const SLOT_MS = 600_000
/** A slot counts for 24 hours after its end. */
const COUNTS_MS = 24 * 3_600_000 + SLOT_MS

/** Contents that were claimed in ten minutes. */
interface Spend {
  readonly service: string
  readonly startMs: number
  readonly count: number
}

/** What hosts may claim in a day, in memory. */
export class DayLimit {
  readonly #clock: Clock
  readonly #spends: JournalTable<Spend>

  constructor(clock: Clock, journal: Journal) {
    this.#clock = clock
    this.#spends = journal.table()
  }

  room(library: LedgerLibrary, newPerDay: number): number {
    return newPerDay - this.#spendsOf(library).reduce((sum, { count }) => sum + count, 0)
  }

  /** Mine while there is room, or held; `room` is undefined without a limit. */
  hold(library: LedgerLibrary, newPerDay: number | null, room: number | undefined): ClaimResult {
    if (newPerDay === null || room === undefined || room > 0) return { kind: 'mine' }
    let left = this.room(library, newPerDay)
    const frees = this.#spendsOf(library).find(({ count }) => {
      left += count
      return left > 0
    })
    return { kind: 'held', freesAt: newPerDay === 0 ? null : (frees?.startMs ?? this.#slotStart()) + COUNTS_MS }
  }

  /** Counts one content; returns where, for `giveBack`. */
  spend(library: LedgerLibrary): string {
    const startMs = this.#slotStart()
    const slot = `${serviceKey(library)} ${startMs}`
    const count = (this.#spends.get(slot)?.count ?? 0) + 1
    this.#spends.set(slot, { service: serviceKey(library), startMs, count })
    return slot
  }

  giveBack(slot: string): void {
    const spend = this.#spends.get(slot)
    if (spend) this.#spends.set(slot, { ...spend, count: spend.count - 1 })
  }

  /** Those that count now, the oldest first. */
  #spendsOf(library: LedgerLibrary): Spend[] {
    const afterMs = this.#clock.nowMs() - COUNTS_MS
    return [...this.#spends.entries()]
      .map(([, spend]) => spend)
      .filter(({ service, startMs, count }) => service === serviceKey(library) && startMs > afterMs && count > 0)
      .sort((a, b) => a.startMs - b.startMs)
  }

  #slotStart(): number {
    return Math.floor(this.#clock.nowMs() / SLOT_MS) * SLOT_MS
  }
}

/** Until when services asked hosts to wait, in memory. */
export class ServiceWaits {
  readonly #clock: Clock
  readonly #ends: JournalTable<number>

  constructor(clock: Clock, journal: Journal) {
    this.#clock = clock
    this.#ends = journal.table()
  }

  /** Takes what one host was asked, and returns what is left of the longest. */
  share(use: ServiceUse | undefined): number {
    if (!use) return 0
    const nowMs = this.#clock.nowMs()
    const leftMs = (this.#ends.get(use.origin) ?? 0) - nowMs
    if (use.waitLeftMs > leftMs) this.#ends.set(use.origin, nowMs + use.waitLeftMs)
    return Math.max(0, leftMs, use.waitLeftMs)
  }
}

function serviceKey({ origin, tenantId }: LedgerLibrary): string {
  return JSON.stringify([origin, tenantId])
}
