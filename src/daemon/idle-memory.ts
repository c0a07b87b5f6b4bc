import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A heap that has grown less is not worth a collection. */
const MIN_GROWTH_BYTES = 8 << 20

/** V8 collects garbage while it allocates, so an idle daemon would keep the garbage of its last pass. */
export class IdleMemory {
  readonly #collect: () => void
  #heapBytes = process.memoryUsage().heapTotal

  constructor(collect = collectGarbage) {
    this.#collect = collect
  }

  /** Call it from time to time while the daemon is idle; it takes a tenth of a second. */
  release(): void {
    if (process.memoryUsage().heapTotal < this.#heapBytes + MIN_GROWTH_BYTES) return
    this.#collect()
    this.#heapBytes = process.memoryUsage().heapTotal
  }
}

/** Only this kind of collection gives back empty pages. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: (options: object) => void = runInNewContext('gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
