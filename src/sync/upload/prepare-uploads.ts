import { createDirectories, type DirectoryContext } from '../directories/create-directories.ts'
import { recheckDirectories } from '../directories/recheck-directories.ts'
import { EarlierUploads } from '../doubts/earlier-uploads.ts'
import type { LookContext } from '../doubts/remote-bytes.ts'
import { resolveDoubts } from '../doubts/resolve-doubts.ts'
import type { Connection, OpenMirror } from '../engine.ts'
import type { PathProblem } from '../observe/observation.ts'
import type { UploadOptions } from './upload-options.ts'

/** While uploads continue, doubts are resolved at most so often. */
const DOUBT_INTERVAL_MS = 10_000

/** What preparing uploads needs. */
export type PreparationContext = DirectoryContext & LookContext

/** What must be done before files can be uploaded: directories, and looks for what the service may have already. */
export class UploadPreparation {
  readonly earlier: EarlierUploads
  readonly #engine: PreparationContext
  readonly #mirror: OpenMirror
  readonly #connection: Connection
  readonly #options: UploadOptions
  readonly #problems: Map<string, PathProblem>
  #nextDoubtsMs = 0

  /** Problems of directories are put into `problems`, by path. */
  constructor(
    engine: PreparationContext,
    mirror: OpenMirror,
    connection: Connection,
    options: UploadOptions,
    problems: Map<string, PathProblem>,
  ) {
    this.#engine = engine
    this.#mirror = mirror
    this.#connection = connection
    this.#options = options
    this.#problems = problems
    this.earlier = new EarlierUploads(engine, mirror, connection, options)
  }

  /** Before the first upload: creates directories, lists what the store may lack, and resolves doubts of earlier runs. */
  async begin(): Promise<void> {
    if (this.#options.rechecksDirectories) await recheckDirectories(this.#engine, this.#mirror, this.#connection)
    await this.#createDirectories()
    await this.earlier.list()
    await this.#resolveDoubts()
  }

  /** While uploads continue: the same for files that came since. */
  async continue(): Promise<void> {
    await this.#createDirectories()
    await this.#lookForEarlier()
    const nowMs = this.#engine.clock.monotonicMs()
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
    const absent = await this.earlier.look()
    // From now on the follower polls the resources that were found.
    this.#options.follower.wake()
    return absent
  }

  /** Creates pending directories, and those found gone once more; a second refusal is final. */
  async #createDirectories(): Promise<void> {
    const { summary, attempts } = this.#options
    const gone = [...attempts.goneDirectories]
    const problems = await createDirectories(this.#engine, this.#mirror, this.#connection, summary)
    for (const problem of problems) this.#problems.set(problem.path, problem)
    for (const id of gone) {
      attempts.recreatedDirectories.add(id)
      attempts.goneDirectories.delete(id)
    }
  }

  #resolveDoubts(): Promise<number> {
    return resolveDoubts(this.#engine, this.#mirror, this.#connection, this.#options)
  }
}
