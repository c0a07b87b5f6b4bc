import { IdSet } from '../foundation/id-set.ts'
import type { Store } from './open-store.ts'
import { onlyRow } from './sql/only-row.ts'

/**
 * The store of a dry run: it keeps the intents of uploads in memory, which takes a tenth of the time of writing them and rolling
 * them back, and counts them against limits as if they were written. Everything else goes to `store`.
 */
export function withPlannedUploads(store: Store): Store {
  const { contents, uploads } = store
  const underWay = new IdSet()
  const planned = new PlannedUploads((contentId) => onlyRow(contents.get(contentId)).size)
  return {
    ...store,
    contents: {
      ...contents,
      getUploadState: (id) => {
        const state = contents.getUploadState(id)
        return underWay.has(id) ? { ...state, state: 'sending' } : state
      },
      setState: (id, state) => {
        if (state === 'sending' && contents.getUploadState(id).state === 'new') underWay.add(id)
        else if (!underWay.delete(id)) contents.setState(id, state)
      },
    },
    uploads: {
      ...uploads,
      intend: ({ contentId, begunAt }) => planned.add(contentId, begunAt.wallMs),
      tallyRun: (runId, afterId) => {
        const written = uploads.tallyRun(runId, afterId)
        return { n: written.n + planned.count, bytes: written.bytes + planned.sumBytes() }
      },
      countWithin: (origin, span) => uploads.countWithin(origin, span) + planned.count,
      leaveTime: (origin, span, index) =>
        uploads.leaveTime(origin, span, index) ??
        planned.leaveTime(index - uploads.countWithin(origin, span), span.spanMs),
    },
  }
}

/** The uploads that a dry run plans; all of them count for one run and one service. */
class PlannedUploads {
  readonly #sizeOf: (contentId: number) => number
  #count = 0
  #firstMs = 0
  /** Contents whose bytes are not in the sum yet. */
  #unsummed: number[] = []
  #bytes = 0

  constructor(sizeOf: (contentId: number) => number) {
    this.#sizeOf = sizeOf
  }

  get count(): number {
    return this.#count
  }

  /** Returns the number of the upload, from 1. */
  add(contentId: number, nowMs: number): number {
    if (this.count === 0) this.#firstMs = nowMs
    this.#unsummed.push(contentId)
    this.#count += 1
    return this.#count
  }

  /** Only a limit asks for the bytes, so most sizes are never read. */
  sumBytes(): number {
    for (const contentId of this.#unsummed) this.#bytes += this.#sizeOf(contentId)
    this.#unsummed = []
    return this.#bytes
  }

  /** When a planned upload leaves a span, as if the plan took no time; undefined when there are fewer. */
  leaveTime(index: number, spanMs: number): number | undefined {
    return index >= 0 && index < this.count ? this.#firstMs + spanMs : undefined
  }
}
