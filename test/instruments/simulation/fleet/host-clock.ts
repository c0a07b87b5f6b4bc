import type { Clock, Timer } from '../../../../src/foundation/clock.ts'
import type { ManualClock } from '../../../support/manual-clock.ts'

/** Rounding of times by a rate. */
const NEARLY_MS = 1e-6

/** The clocks of one machine of a fleet: of a rate of its own, its monotonic time stands still while it sleeps, its wall clock is wrong. */
export class HostClock implements Clock {
  readonly #real: ManualClock
  readonly #rate: number
  #wrongMs: number
  #stoppedUntilMs = 0
  readonly #sleeps: { readonly fromMs: number; readonly toMs: number }[] = []

  constructor(real: ManualClock, { rate, wrongMs }: { readonly rate: number; readonly wrongMs: number }) {
    this.#real = real
    this.#rate = rate
    this.#wrongMs = wrongMs
  }

  readonly nowMs = (): number => Math.floor(this.#real.nowMs() + this.#wrongMs)

  readonly monotonicMs = (): number => {
    const nowMs = this.#real.monotonicMs()
    const asleepMs = this.#sleeps.reduce(
      (sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(toMs, nowMs) - fromMs),
      0,
    )
    return (nowMs - asleepMs) * this.#rate
  }

  /** Since the machine started, time asleep included. */
  readonly bootMs = (): number => this.#real.monotonicMs() * this.#rate

  jump(byMs: number): void {
    this.#wrongMs += byMs
  }

  /** Nothing of the program goes on for a while, beyond what runs at this moment. */
  stop(forMs: number, isAsleep: boolean): void {
    const nowMs = this.#real.monotonicMs()
    const fromMs = Math.max(nowMs, this.#stoppedUntilMs)
    this.#stoppedUntilMs = fromMs + forMs
    if (isAsleep) this.#sleeps.push({ fromMs, toMs: this.#stoppedUntilMs })
  }

  /** Waits until the program may go on. */
  async awake(): Promise<void> {
    for (let leftMs = this.#stoppedMs; leftMs > 0; leftMs = this.#stoppedMs) await this.#real.sleep(leftMs)
  }

  get #stoppedMs(): number {
    return this.#stoppedUntilMs - this.#real.monotonicMs()
  }

  readonly sleep = async (durationMs: number, signal?: AbortSignal): Promise<void> => {
    const dueMs = this.monotonicMs() + Math.max(0, durationMs)
    do {
      await this.#real.sleep((dueMs - this.monotonicMs()) / this.#rate, signal)
      await this.awake()
    } while (this.monotonicMs() < dueMs - NEARLY_MS)
  }

  readonly startTimer = (durationMs: number, callback: () => void): Timer => {
    let dueMs = 0
    let timer: Timer | undefined
    const fire = () => {
      const leftMs = (dueMs - this.monotonicMs()) / this.#rate
      if (this.#stoppedMs <= 0 && leftMs <= NEARLY_MS) callback()
      else timer = this.#real.startTimer(Math.max(this.#stoppedMs, leftMs), fire)
    }
    const refresh = () => {
      timer?.[Symbol.dispose]()
      dueMs = this.monotonicMs() + Math.max(0, durationMs)
      timer = this.#real.startTimer(Math.max(0, durationMs) / this.#rate, fire)
    }
    refresh()
    return { refresh, [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
  }
}
