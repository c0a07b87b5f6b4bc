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
  readonly #seen = new Map<bigint, { readonly beat: bigint; readonly sinceMs: number }>()

  /** Notes a beat that was read after `askedMs` (monotonic). Returns whether it is unchanged for lease and grace. */
  note(session: bigint, beat: bigint, askedMs: number, leaseMs: number): boolean {
    const before = this.#seen.get(session)
    if (before?.beat === beat) return askedMs - before.sinceMs > leaseMs + graceMs(leaseMs)
    this.#seen.set(session, { beat, sinceMs: askedMs })
    return false
  }

  forget(session: bigint): void {
    this.#seen.delete(session)
  }
}
