/** Long enough for a steady time left, short enough to follow a connection that becomes slower. */
const WINDOW_MS = 15_000
/** The least time between two samples. */
const SAMPLE_MS = 250
/** Shorter measurements are too imprecise for the time left. */
const SHORTEST_MS = 1_000

interface Sample {
  readonly atMs: number
  readonly amount: number
}

/** The recent growth of an amount. The caller passes amounts and times. */
export class RecentRate {
  #samples: Sample[] = []

  /** Records the total `amount` at a monotonic time. */
  record(amount: number, atMs: number): void {
    // Drops samples above the amount, which decreases when, for example, an upload fails, and those from before anything grew.
    const isOfUse = (sample: Sample) => amount > 0 && sample.amount <= amount && atMs - sample.atMs <= WINDOW_MS
    this.#samples = this.#samples.filter(isOfUse)
    const last = this.#samples.at(-1)
    if (last === undefined || atMs - last.atMs >= SAMPLE_MS) this.#samples.push({ atMs, amount })
  }

  /** Amount per second; undefined after too short a measurement. */
  perSecond(amount: number, atMs: number): number | undefined {
    const first = this.#samples[0]
    if (first === undefined || atMs - first.atMs < SHORTEST_MS) return undefined
    return ((amount - first.amount) / (atMs - first.atMs)) * 1_000
  }
}
