import { describeOutage, type Outage, type OutageListener } from '../remote/policies/outage.ts'
import type { Service } from '../sync/engine.ts'

/** Records the outages of the service for which calls and syncs of the dashboard wait. */
export class OutageTracker {
  readonly #onChange: () => void
  readonly #outages = new Map<OutageListener, Outage>()

  /** Calls `onChange` when a call or sync begins to wait, tries again, or stops waiting. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Describes the outage that was reported first, in the words of the command line; null when nothing waits. */
  describe(nowMs: number): string | null {
    const [outage] = this.#outages.values()
    return outage ? describeOutage(outage, nowMs) : null
  }

  /** Runs `work`, and records the outages of the service until it ends. */
  async track<T>(service: Service, work: (service: Service) => Promise<T>): Promise<T> {
    return await this.trackReported(async (listener) => {
      using _outages = service.onOutage(listener)
      return await work(service)
    })
  }

  /** Runs `work`, and records the outages that it reports to `listener`. */
  async trackReported<T>(work: (listener: OutageListener) => Promise<T>): Promise<T> {
    const listener: OutageListener = (outage) => {
      if (outage) this.#outages.set(listener, outage)
      else this.#outages.delete(listener)
      this.#onChange()
    }
    try {
      return await work(listener)
    } finally {
      if (this.#outages.delete(listener)) this.#onChange()
    }
  }
}
