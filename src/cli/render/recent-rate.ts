/** Long enough that the time left doesn't jump, short enough to follow a line that has become slower. */
const WINDOW_MS = 15_000
/** One sample stands for so long. */
const SAMPLE_MS = 250
/** What was measured for less time than this says nothing about the time left. */
const SHORTEST_MS = 1_000

/** How fast a growing amount has grown lately. Amounts and times come from the caller. */
export class RecentRate {
  #samples: { readonly atMs: number; readonly amount: number }[] = []

  /** `amount` so far, at a time that never runs backwards. */
  note(amount: number, atMs: number): void {
    // What was taken back, as after a failed upload, was never done.
    this.#samples = this.#samples.filter((sample) => sample.amount <= amount && atMs - sample.atMs <= WINDOW_MS)
    const last = this.#samples.at(-1)
    if (last === undefined || atMs - last.atMs >= SAMPLE_MS) this.#samples.push({ atMs, amount })
  }

  /** Amount a second; undefined while too little was seen. */
  perSecond(amount: number, atMs: number): number | undefined {
    const first = this.#samples[0]
    if (first === undefined || atMs - first.atMs < SHORTEST_MS) return undefined
    return ((amount - first.amount) / (atMs - first.atMs)) * 1_000
  }
}
