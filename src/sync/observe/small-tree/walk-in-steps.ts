import { budgetFileSystem, type ReadBudget } from '../../../local/read/budget-file-system.ts'
import type { ObservationBatch } from '../observation.ts'
import type { ChildDirectory, Observer } from '../observe-directory.ts'
import type { OwnStep, OwnWalker } from '../observe-in-threads.ts'
import { scopeAt } from '../walk-tree.ts'
import { observeWhole } from './walk-small-tree.ts'

/** What one directory may take without delaying signals and requests noticeably. */
export interface DirectoryBudget extends ReadBudget {
  readonly durationMs: number
}

export const DIRECTORY_BUDGET: DirectoryBudget = { calls: 10_000, bytes: 4 * 2 ** 20, durationMs: 500 }

/** The thread looks for messages after so long. */
const STEP_MS = 5

/**
 * Walks directories on this thread, some milliseconds at a time. A directory that would take longer is left to a thread, which observes
 * it wholly; after one that took too much time, the file system counts as slow, and threads walk all that is left.
 */
export class StepWalker implements OwnWalker {
  readonly #observer: Observer
  readonly #budget: DirectoryBudget
  readonly #stack: ChildDirectory[] = []
  #hasRetired = false

  constructor(observer: Observer, budget = DIRECTORY_BUDGET) {
    this.#observer = observer
    this.#budget = budget
  }

  get hasWork(): boolean {
    return this.#stack.length > 0
  }

  get hasRetired(): boolean {
    return this.#hasRetired
  }

  take(paths: readonly string[]): void {
    for (const path of paths) this.#stack.push({ path, scope: scopeAt(this.#observer, path) })
  }

  giveHalf(): readonly string[] {
    // The bottom of the stack holds the directories nearest to the root, so the largest subtrees.
    return this.#stack.splice(0, this.#stack.length >> 1).map(({ path }) => path)
  }

  step(): OwnStep {
    const { clock } = this.#observer
    const endMs = clock.monotonicMs() + STEP_MS
    const batches: ObservationBatch[] = []
    const left: string[] = []
    for (let directory = this.#stack.pop(); directory; directory = this.#stack.pop()) {
      const found = this.#observe(directory)
      if (found === undefined) left.push(directory.path)
      else batches.push(...found)
      if (this.#hasRetired) left.push(...this.#stack.splice(0).map(({ path }) => path))
      if (clock.monotonicMs() >= endMs) break
    }
    return { batches, left }
  }

  #observe(directory: ChildDirectory): readonly ObservationBatch[] | undefined {
    const { fs, clock } = this.#observer
    const lateMs = clock.monotonicMs() + this.#budget.durationMs
    const isLate = () => clock.monotonicMs() > lateMs
    const limited = budgetFileSystem(fs, this.#budget, isLate)
    const observed = observeWhole({ ...this.#observer, fs: limited.fs }, directory, limited.isSpent)
    if (observed === undefined) this.#hasRetired = isLate()
    else this.#stack.push(...observed.children.toReversed())
    return observed?.batches
  }
}
