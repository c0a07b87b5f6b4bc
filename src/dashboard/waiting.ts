import { describeOutage, type Outage, type OutageListener } from '../remote/policies/outage.ts'
import type { Service } from '../sync/engine.ts'

/** What calls and syncs of the dashboard wait for while the service gives no answer. */
export class Waiting {
  readonly #onChange: () => void
  readonly #outages = new Map<OutageListener, Outage>()

  /** `onChange` is called when the first one begins to wait, at each further try, and when the last one goes on. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Returns the outage that was reported first, as the command line describes it; null when nothing waits. */
  describe(nowMs: number): string | null {
    const [outage] = this.#outages.values()
    return outage ? describeOutage(outage, nowMs) : null
  }

  /** Does work that asks the service, and follows the service's outages meanwhile. */
  async during<T>(service: Service, work: (service: Service) => Promise<T>): Promise<T> {
    return await this.follow(async (listener) => {
      using _outages = service.onOutage(listener)
      return await work(service)
    })
  }

  /** The same for work that reports outages by itself. */
  async follow<T>(work: (listener: OutageListener) => Promise<T>): Promise<T> {
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
