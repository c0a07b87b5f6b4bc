import { TemporaryError } from '../../../src/foundation/errors.ts'

/** Commits of a life that find the disk full: `commits` of them, beginning with number `from`. */
export interface FullDisk {
  readonly from: number
  readonly commits: number
}

/** What the dead program's calls throw: its own handlers may catch it, but nothing that they do has any effect. */
export class ProcessDied extends Error {
  constructor() {
    super('the simulated process is dead')
  }
}

/** One life of the program, from its start to its end or its death. Everything that it does is a step at which it may die. */
export class Life {
  isDead = false
  steps = 0
  /** The step at which it dies. */
  readonly #diesAt: number
  readonly #onStep: (what: string) => void
  readonly #onDeath: () => void
  /** What it threw where nobody was listening: a real process would end. */
  readonly failures: unknown[] = []
  /** Set it once the program has started. */
  fullDisk: FullDisk | null = null
  #commits = 0

  constructor(diesAt: number, onStep: (what: string) => void, onDeath: () => void = () => {}) {
    this.#diesAt = diesAt
    this.#onStep = onStep
    this.#onDeath = onDeath
  }

  /** Throws ProcessDied from the step of its death on. */
  step(what: string): void {
    if (this.isDead) throw new ProcessDied()
    this.steps += 1
    this.#onStep(what)
    if (this.steps < this.#diesAt && !this.isDead) return
    this.die()
    throw new ProcessDied()
  }

  die(): void {
    if (this.isDead) return
    this.isDead = true
    this.#onDeath()
  }

  /** What a commit does at its end: on a full disk it fails, and nothing of it remains. */
  commit(): void {
    this.step('commit')
    if (!this.fullDisk) return
    this.#commits += 1
    const { from, commits } = this.fullDisk
    if (this.#commits < from || this.#commits >= from + commits) return
    this.#onStep('full disk')
    throw new TemporaryError('disk-full', 'Cannot write the store in "/state": its disk is full')
  }

  onFailure(error: unknown): void {
    if (!this.isDead) this.failures.push(error)
  }
}
