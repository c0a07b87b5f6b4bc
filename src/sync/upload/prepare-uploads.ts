import type { Clock } from '../../foundation/clock.ts'
import type { EarlierUploads } from '../doubts/earlier-uploads.ts'
import type { PathProblem } from '../observe/observation.ts'
import type { UploadOptions } from './upload-options.ts'

/** While uploads continue, doubts are resolved at most so often. */
const DOUBT_INTERVAL_MS = 10_000

/** What preparing consists of; the functions throw what stops the stage. */
interface PreparationSteps {
  readonly earlier: EarlierUploads
  /** Marks directories as pending that are gone from the service. */
  recheckDirectories(): Promise<void>
  /** Creates pending directories; returns the problems of those that it could not create. */
  createDirectories(): Promise<readonly PathProblem[]>
  /** Returns how many contents in doubt may be uploaded again. */
  resolveDoubts(): Promise<number>
  /** Returns the problems of copies in doubt that are not linked now. */
  resolveLinkDoubts(): Promise<readonly PathProblem[]>
}

/** What must be done before files can be uploaded: directories, and looks for what the service may have already. */
export class UploadPreparation {
  readonly #clock: Clock
  readonly #options: UploadOptions
  readonly #steps: PreparationSteps
  /** By path: a run may last for days and meet the same problem again and again. */
  readonly #problems = new Map<string, PathProblem>()
  #nextDoubtsMs = 0

  constructor(clock: Clock, options: UploadOptions, steps: PreparationSteps) {
    this.#clock = clock
    this.#options = options
    this.#steps = steps
  }

  /** Problems of directories and of copies in doubt, by path. */
  get problems(): ReadonlyMap<string, PathProblem> {
    return this.#problems
  }

  /** Before the first upload: creates directories, lists what the store may lack, and resolves doubts of earlier runs. */
  async begin(): Promise<void> {
    if (this.#options.rechecksDirectories) await this.#steps.recheckDirectories()
    await this.#createDirectories()
    await this.#steps.earlier.list()
    await this.#resolveDoubts()
  }

  /** While uploads continue: the same for files that came since. */
  async continue(): Promise<void> {
    await this.#createDirectories()
    await this.#lookForEarlier()
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#nextDoubtsMs) return
    this.#nextDoubtsMs = nowMs + DOUBT_INTERVAL_MS
    await this.#resolveDoubts()
  }

  /**
   * After the last upload: true when something can be uploaded now that could not be before. Each content is uploaded at most
   * once more in a run.
   */
  async findMore(): Promise<boolean> {
    const absent = await this.#lookForEarlier()
    const hasGone = this.#options.attempts.goneDirectories.size > 0
    if (hasGone) await this.#createDirectories()
    const resendable = await this.#resolveDoubts()
    return absent > 0 || hasGone || resendable > 0
  }

  /** Returns the number of contents that the service does not have and that may be uploaded. */
  async #lookForEarlier(): Promise<number> {
    const absent = await this.#steps.earlier.look()
    // From now on the follower polls the resources that were found.
    this.#options.follower.wake()
    return absent
  }

  async #resolveDoubts(): Promise<number> {
    const resendable = await this.#steps.resolveDoubts()
    this.#add(await this.#steps.resolveLinkDoubts())
    return resendable
  }

  #add(problems: readonly PathProblem[]): void {
    for (const problem of problems) this.#problems.set(problem.path, problem)
  }

  /** Creates pending directories, and those found gone once more; a second refusal is final. */
  async #createDirectories(): Promise<void> {
    const { attempts } = this.#options
    const gone = [...attempts.goneDirectories]
    this.#add(await this.#steps.createDirectories())
    for (const id of gone) {
      attempts.recreatedDirectories.add(id)
      attempts.goneDirectories.delete(id)
    }
  }
}
