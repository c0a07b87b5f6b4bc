import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A heap that has grown less since the last collection is not worth another one. */
const LEAST_GROWTH_BYTES = 8 << 20

/**
 * Gives memory back to the system when the daemon has become idle. V8 collects garbage while it allocates, so the garbage of the
 * last pass, and the pages that held it, would stay until the next one.
 */
export class IdleMemory {
  readonly #collect: () => void
  #heapBytes = process.memoryUsage().heapTotal

  constructor(collect = collectGarbage) {
    this.#collect = collect
  }

  /** Call it from time to time while the daemon is idle; collecting takes a tenth of a second. */
  release(): void {
    if (process.memoryUsage().heapTotal < this.#heapBytes + LEAST_GROWTH_BYTES) return
    this.#collect()
    this.#heapBytes = process.memoryUsage().heapTotal
  }
}

/** Only the collection for a heap that is full gives back the pages that it has emptied. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: (options: object) => void = runInNewContext('gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
