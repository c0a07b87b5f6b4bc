import { Mutex } from '../foundation/concurrency/mutex.ts'
import { messageOf } from '../foundation/errors.ts'
import type { OutageTracker } from './outage-tracker.ts'
import type { DashboardSources } from './sources.ts'

/** Runs the syncs that the dashboard requests, one at a time, because each needs exclusive use of the state. */
export class DashboardSyncs {
  readonly #sync: DashboardSources['sync']
  readonly #outages: OutageTracker
  readonly #end = new AbortController()
  readonly #mutex = new Mutex()
  readonly #running = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, string>()
  #current: string | null = null

  constructor(sync: DashboardSources['sync'], outages: OutageTracker) {
    this.#sync = sync
    this.#outages = outages
  }

  /** Queues a sync of each mirror, except those whose sync runs or is queued already. */
  begin(names: readonly string[]): void {
    for (const name of names.filter((each) => !this.#running.has(each))) {
      this.#failures.delete(name)
      this.#running.set(name, this.#run(name))
    }
  }

  isRunning(name: string): boolean {
    return this.#running.has(name)
  }

  /** Returns the mirror that is being synced while the sync of this one is queued; null if this one is not queued. */
  waitsFor(name: string): string | null {
    return this.#running.has(name) && this.#current !== name ? this.#current : null
  }

  /** Returns the message of the error that ended a mirror's last sync; null if no error did. */
  failureOf(name: string): string | null {
    return this.#failures.get(name) ?? null
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await Promise.allSettled(this.#running.values())
  }

  async #run(name: string): Promise<void> {
    using _lock = await this.#mutex.lock()
    this.#current = name
    try {
      this.#end.signal.throwIfAborted()
      await this.#outages.trackReported((onOutage) => this.#sync([name], this.#end.signal, onOutage))
    } catch (error) {
      this.#failures.set(name, messageOf(error))
    } finally {
      this.#current = null
      this.#running.delete(name)
    }
  }
}
