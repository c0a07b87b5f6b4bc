/** The lease of a new ledger if none is configured. */
export const DEFAULT_LEASE_MS = 60_000

/** Monotonic time may stand still while a machine sleeps; time since its start does not. */
export interface UpTime {
  readonly monotonicMs: number
  readonly bootMs: number
}

/** `since`: before the call that opened or renewed the session. */
export function leaseLeftMs(since: UpTime, leaseMs: number, now: UpTime): number {
  return leaseMs - Math.max(now.monotonicMs - since.monotonicMs, now.bootMs - since.bootMs)
}

/** A write that its host had begun may take this long to reach the service, so the session is left alone after its lease. */
export function graceMs(leaseMs: number): number {
  return leaseMs
}

/** Watches sessions of other hosts by their beats, since clocks of machines differ. */
export class SilentSessions {
  readonly #seen = new Map<bigint, SeenBeat>()

  /**
   * Notes a beat read before `nowMs` (monotonic). Returns whether it is unchanged for lease and grace; closing the session compares it
   * once more.
   */
  note(session: bigint, beat: bigint, nowMs: number, leaseMs: number): boolean {
    const longestMs = leaseMs + graceMs(leaseMs)
    for (const [other, { noticedMs }] of this.#seen) {
      if (nowMs - noticedMs > FORGOTTEN_AFTER * longestMs) this.#seen.delete(other)
    }
    const before = this.#seen.get(session)
    const sinceMs = before?.beat === beat ? before.sinceMs : nowMs
    this.#seen.set(session, { beat, sinceMs, noticedMs: nowMs })
    return nowMs - sinceMs > longestMs
  }

  forget(session: bigint): void {
    this.#seen.delete(session)
  }
}

/** A session that this host has not seen for this many times lease and grace is forgotten. */
const FORGOTTEN_AFTER = 5

interface SeenBeat {
  readonly beat: bigint
  /** When this beat was seen first. */
  readonly sinceMs: number
  /** When it was seen last. */
  readonly noticedMs: number
}
