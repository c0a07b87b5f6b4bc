import type { Clock, Timer } from '../../foundation/clock.ts'

/** A service that was opened for its client; disposing closes it. */
export interface LeasedService<Client> extends AsyncDisposable {
  readonly client: Client
}

/** The service while somebody works with it. */
export interface HeldService<Client> extends Disposable {
  readonly client: Client
}

const IDLE_MS = 5_000

/**
 * Opens the service when it is needed, and closes it when nobody has worked with it for 5 s: only one process at a time can serve the
 * embedded library, and an assistant keeps its programs all day.
 */
export class ServiceLease<Client> implements AsyncDisposable {
  readonly #open: () => Promise<LeasedService<Client>>
  readonly #clock: Pick<Clock, 'startTimer'>
  #opened: Promise<LeasedService<Client>> | undefined
  #closing: Promise<void> = Promise.resolve()
  #holders = 0
  #idle: Timer | undefined

  constructor(open: () => Promise<LeasedService<Client>>, clock: Pick<Clock, 'startTimer'>) {
    this.#open = open
    this.#clock = clock
  }

  /** Throws what opening the service throws; the next call tries again. */
  async hold(): Promise<HeldService<Client>> {
    this.#idle?.[Symbol.dispose]()
    this.#holders += 1
    this.#opened ??= this.#closing.then(this.#open)
    const opened = this.#opened
    try {
      const { client } = await opened
      return { client, [Symbol.dispose]: () => this.#release() }
    } catch (error) {
      if (this.#opened === opened) this.#opened = undefined
      this.#release()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idle?.[Symbol.dispose]()
    this.#close()
    await this.#closing
  }

  #release(): void {
    this.#holders -= 1
    if (this.#holders === 0) this.#idle = this.#clock.startTimer(IDLE_MS, () => this.#close())
  }

  /** A service that does not close well is given up; the next one is opened all the same. */
  #close(): void {
    const opened = this.#opened
    this.#opened = undefined
    if (opened) this.#closing = opened.then((service) => service[Symbol.asyncDispose]()).catch(() => {})
  }
}
