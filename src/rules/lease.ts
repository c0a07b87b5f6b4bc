/** The lease of a new ledger, if the configuration names none. */
export const DEFAULT_LEASE_MS = 60_000

/** A moment by two clocks. Monotonic time may stand still while the machine sleeps; the time since its start (`bootMs`) does not. */
export interface UpTime {
  readonly monotonicMs: number
  readonly bootMs: number
}

/** Returns the remaining time of a lease. `since` is a moment before the call that opened or renewed the session. */
export function leaseLeftMs(since: UpTime, leaseMs: number, now: UpTime): number {
  return leaseMs - Math.max(now.monotonicMs - since.monotonicMs, now.bootMs - since.bootMs)
}

/** How long a session stays open after its lease has ended, because a write of its host may still be on the way to the service. */
export function graceMs(leaseMs: number): number {
  return leaseMs
}

/** Finds silent sessions of other hosts. It measures by its own clock how long a beat is unchanged, since clocks of machines differ. */
export class SilentSessions {
  readonly #seen = new Map<bigint, SeenBeat>()

  /**
   * Notes a beat that was read before `nowMs` (monotonic). Returns whether it has been unchanged for longer than lease and grace period;
   * the call that closes the session compares it once more.
   */
  note(session: bigint, beat: bigint, nowMs: number, leaseMs: number): boolean {
    const silentAfterMs = leaseMs + graceMs(leaseMs)
    for (const [other, { lastSeenMs }] of this.#seen) {
      if (nowMs - lastSeenMs > FORGOTTEN_AFTER * silentAfterMs) this.#seen.delete(other)
    }
    const before = this.#seen.get(session)
    const sinceMs = before?.beat === beat ? before.sinceMs : nowMs
    this.#seen.set(session, { beat, sinceMs, lastSeenMs: nowMs })
    return nowMs - sinceMs > silentAfterMs
  }

  forget(session: bigint): void {
    this.#seen.delete(session)
  }
}

/** A session is forgotten if it was not noted for this multiple of the sum of lease and grace period. */
const FORGOTTEN_AFTER = 5

interface SeenBeat {
  readonly beat: bigint
  /** When this beat was first seen. */
  readonly sinceMs: number
  readonly lastSeenMs: number
}
