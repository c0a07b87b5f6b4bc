import type { PathProblem } from '../../rules/problem-groups.ts'
import type { EarlierUploads } from '../doubts/earlier-uploads.ts'
import { listDoubtful, resolveUploadDoubts } from '../doubts/resolve-doubts.ts'
import type { Engine, MirrorContext, OpenMirror } from '../engine.ts'
import type { Claims } from '../fleet/claims.ts'
import { createDirectories, listDirectoriesToCreate, recheckDirectories } from '../library/create-directories.ts'
import type { UploadOptions } from '../pass.ts'

/** The least interval between two searches for uploads in doubt while uploads continue. */
const DOUBT_INTERVAL_MS = 10_000

export function hasToUpload(engine: Engine, mirror: OpenMirror): boolean {
  const { store, clock, fleet } = engine
  const { id } = mirror.row
  return (
    store.files.hasSendable(id, clock.nowMs()) ||
    listDirectoriesToCreate(store, mirror).length > 0 ||
    fleet?.hasToJoin === true ||
    store.foreign.isSearchDue(id) ||
    listDoubtful(engine, mirror).length > 0
  )
}

/** Does what must precede uploads: creates directories, and searches for earlier uploads. */
export class UploadPreparation {
  readonly #context: MirrorContext
  readonly #options: UploadOptions
  readonly #earlier: EarlierUploads
  /** By path, because a run may last for days and meet the same problem often. */
  readonly problems = new Map<string, PathProblem>()
  #nextDoubtsMs = 0
  #claims: Claims | undefined

  constructor(context: MirrorContext, options: UploadOptions, earlier: EarlierUploads) {
    this.#context = context
    this.#options = options
    this.#earlier = earlier
  }

  /** Call it before the first upload. */
  async begin(claims: Claims | undefined): Promise<void> {
    this.#claims = claims
    if (this.#options.rechecksDirectories) await recheckDirectories(this.#context)
    await this.#createDirectories()
    await this.#earlier.list()
    await this.#resolveDoubts()
  }

  /** Call it while uploads continue, when new files may have come. */
  async continue(): Promise<void> {
    await this.#createDirectories()
    await this.#earlier.search()
    const nowMs = this.#context.engine.clock.monotonicMs()
    if (nowMs < this.#nextDoubtsMs) return
    this.#nextDoubtsMs = nowMs + DOUBT_INTERVAL_MS
    await this.#resolveDoubts()
  }

  /** Call it after the last upload. Returns whether more can be uploaded; each content is uploaded at most once more in a run. */
  async findMore(): Promise<boolean> {
    const absent = await this.#earlier.search()
    const hasGone = this.#options.attempts.goneDirectories.size > 0
    if (hasGone) await this.#createDirectories()
    const resendable = await this.#resolveDoubts()
    return absent > 0 || hasGone || resendable > 0
  }

  #resolveDoubts(): Promise<number> {
    return resolveUploadDoubts(this.#context, this.#options, this.#claims)
  }

  /** Creates pending directories. A directory that was found gone is created again once in a run. */
  async #createDirectories(): Promise<void> {
    const { attempts } = this.#options
    const gone = [...attempts.goneDirectories]
    await createDirectories(this.#context, this.#options.summary, this.problems)
    for (const id of gone) {
      attempts.recreatedDirectories.add(id)
      attempts.goneDirectories.delete(id)
    }
  }
}
