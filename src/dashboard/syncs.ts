import { Mutex } from '../foundation/concurrency/mutex.ts'
import { messageOf } from '../foundation/errors.ts'
import type { DashboardSources } from './sources.ts'
import type { Waiting } from './waiting.ts'

/** The syncs that were asked for on the dashboard, one at a time, since each needs the state to itself. */
export class DashboardSyncs {
  readonly #sync: DashboardSources['sync']
  readonly #waiting: Waiting
  readonly #end = new AbortController()
  readonly #mutex = new Mutex()
  readonly #running = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, string>()
  #current: string | null = null

  constructor(sync: DashboardSources['sync'], waiting: Waiting) {
    this.#sync = sync
    this.#waiting = waiting
  }

  /** Begins a sync of each mirror that is not being synced, and does not wait for one already. */
  begin(names: readonly string[]): void {
    for (const name of names.filter((each) => !this.#running.has(each))) {
      this.#failures.delete(name)
      this.#running.set(name, this.#run(name))
    }
  }

  isRunning(name: string): boolean {
    return this.#running.has(name)
  }

  /** Returns the mirror whose sync that of this mirror waits for; null when it waits for none. */
  waitsFor(name: string): string | null {
    return this.#running.has(name) && this.#current !== name ? this.#current : null
  }

  /** Returns why the last sync of a mirror ended early; null for any other end. */
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
      await this.#waiting.follow((onOutage) => this.#sync([name], this.#end.signal, onOutage))
    } catch (error) {
      this.#failures.set(name, messageOf(error))
    } finally {
      this.#current = null
      this.#running.delete(name)
    }
  }
}
