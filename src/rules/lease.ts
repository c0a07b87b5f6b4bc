/** Of a new ledger, where the configuration names none. */
export const DEFAULT_LEASE_MS = 60_000

/** A moment by two clocks of this machine: monotonic time may stand still while a machine sleeps, time since its start does not. */
export interface UpTime {
  readonly monotonicMs: number
  readonly bootMs: number
}

/** Milliseconds for which a session is surely this host's. `since`: before the call that opened or renewed it was made. */
export function leaseLeftMs(since: UpTime, leaseMs: number, now: UpTime): number {
  return leaseMs - Math.max(now.monotonicMs - since.monotonicMs, now.bootMs - since.bootMs)
}

/** How long after its lease a session is left alone: a write that its host had begun may take so long to reach the service. */
export function graceMs(leaseMs: number): number {
  return leaseMs
}

/** Watches sessions of other hosts by their beats: no clock of another machine says whether a session is over. */
export class SilentSessions {
  readonly #seen = new Map<bigint, SeenBeat>()

  /**
   * Notes a beat that was read before `nowMs` (monotonic). Returns whether it is unchanged for lease and grace, if it still is: who closes the
   * session compares it once more.
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

/** A session that nobody has met for so many times lease and grace has probably ended. */
const FORGOTTEN_AFTER = 5

interface SeenBeat {
  readonly beat: bigint
  /** When this beat was seen first. */
  readonly sinceMs: number
  /** When it was seen last. */
  readonly noticedMs: number
}
