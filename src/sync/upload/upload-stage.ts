import { Bell } from '../../foundation/bell.ts'
import { TemporaryError } from '../../foundation/errors.ts'
import { formatSize } from '../../foundation/units.ts'
import type { HeldBack } from '../../rules/quota.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import { makeDirectories } from '../directories/make-directories.ts'
import { recheckDirectories } from '../directories/recheck-directories.ts'
import { EarlierUploads } from '../doubts/earlier-uploads.ts'
import { resolveDoubts } from '../doubts/resolve-doubts.ts'
import type { Connection, Engine, OpenMirror } from '../engine.ts'
import type { IngestionFollower } from '../ingestion/follow-ingestion.ts'
import type { PathProblem } from '../observe/observation.ts'
import type { RunAttempts } from '../pass.ts'
import { announceUploads } from '../progress.ts'
import { type QuotaScope, RunQuota } from './run-quota.ts'
import { UploadQueue } from './upload-queue.ts'
import { Uploader } from './uploader.ts'

const RESERVE_BYTES = 64 * 2 ** 20
/** While uploads go on, doubts are looked into at most so often. */
const DOUBT_PAUSE_MS = 10_000

export interface UploadOptions {
  readonly summary: SyncSummary
  readonly follower: IngestionFollower
  /** How long to wait for room in ingestion. */
  readonly waitMs: number
  /** What counts for the limits of a run. */
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  /** Look first whether the directories that were made are still there. */
  readonly rechecksDirectories?: boolean
  /** Called when there is nothing to send for the moment; only while it is kept open. */
  readonly onIdle?: () => void
}

/** Sends what one mirror has to send: makes directories, uploads, and looks into what is in doubt. */
export class UploadStage {
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #connection: Connection
  readonly #work: UploadOptions
  readonly #earlier: EarlierUploads
  readonly #bell = new Bell()
  /** By path: a run may last for days, and meet the same again with every ring. */
  readonly #problems = new Map<string, PathProblem>()
  #uploader: Uploader | undefined
  #isOpen = false
  #rings = 0
  /** Those that the uploader was told of. */
  #ringsSeen = 0
  #lookIntoDoubtsAtMs = 0

  constructor(engine: Engine, mirror: OpenMirror, connection: Connection, work: UploadOptions) {
    this.#engine = engine
    this.#mirror = mirror
    this.#connection = connection
    this.#work = work
    this.#earlier = new EarlierUploads(engine, mirror, connection, work)
  }

  /** From now on `run` goes on until `finish`: more will come, and is told by `ring`. */
  keepOpen(): void {
    this.#isOpen = true
  }

  ring(): void {
    this.#rings += 1
    this.#bell.ring()
  }

  finish(): void {
    this.#isOpen = false
    this.#bell.ring()
    this.#uploader?.finish()
  }

  /** Nothing is left to send, nor of what `ring` told it of. */
  get isIdle(): boolean {
    return this.#rings === this.#ringsSeen && (this.#uploader?.isIdle ?? false)
  }

  /**
   * Sends until nothing is open any more that may be sent. A further round follows when a content is to be sent once more,
   * which happens at most once to each, and when copies are to be linked to contents that are stored now.
   */
  async run(): Promise<PathProblem[]> {
    assertRoom(this.#engine)
    await this.#prepare()
    const { client } = this.#connection
    const facts = await client.capabilities(this.#engine.signal)
    const landsInPlace = facts.uploadDirectoryField.field !== undefined
    const quota = new RunQuota(this.#engine, this.#mirror.row, this.#work.quotaScope)
    for (;;) {
      const plan = { ...this.#work, quota, earlier: this.#earlier }
      const queue = new UploadQueue(this.#engine, this.#mirror, plan, landsInPlace)
      announceUploads(this.#engine.progress, this.#engine.store.contents.countToSend(this.#mirror.row.id))
      const storedBefore = this.#countStored()
      if (!(await this.#upload(queue))) break
      const absent = await this.#lookForEarlier()
      const hasGone = this.#work.attempts.goneDirectories.size > 0
      if (hasGone) await this.#makeDirectories()
      const resendable = await resolveDoubts(this.#engine, this.#mirror, this.#connection, this.#work)
      // Copies follow what is stored now; what could not be sent would be planned again for ever.
      const mayLink = queue.links && this.#countStored() > storedBefore
      if (absent === 0 && resendable === 0 && !hasGone && !mayLink) break
    }
    return [...this.#problems.values()]
  }

  #countStored(): number {
    const { created, duplicates } = this.#work.summary.uploads
    return created + duplicates
  }

  /** Makes directories, lists what the store may lack, then looks into what an earlier run left in doubt. */
  async #prepare(): Promise<void> {
    const { engine, mirror, connection } = this.#parts()
    if (this.#work.rechecksDirectories) await recheckDirectories(engine, mirror, connection)
    await this.#makeDirectories()
    await this.#earlier.list()
    await resolveDoubts(engine, mirror, connection, this.#work)
  }

  async #lookForEarlier(): Promise<number> {
    const absent = await this.#earlier.look()
    // What was found is followed from now on.
    this.#work.follower.wake()
    return absent
  }

  /** Those that were found gone are made again once: where the service takes none, a second refusal holds. */
  async #makeDirectories(): Promise<void> {
    const { engine, mirror, connection, summary } = this.#parts()
    const { goneDirectories, remadeDirectories } = this.#work.attempts
    const gone = [...goneDirectories]
    this.#noteProblems(await makeDirectories(engine, mirror, connection, summary))
    for (const id of gone) {
      remadeDirectories.add(id)
      goneDirectories.delete(id)
    }
  }

  /** False when going on makes no sense in this run. */
  async #upload(queue: UploadQueue): Promise<boolean> {
    const { engine, mirror, connection, summary } = this.#parts()
    const { follower, waitMs, onIdle, attempts } = this.#work
    const onDirectoryGone = () => this.ring()
    const work = { queue, gate: follower, summary, attempts, waitMs, onDirectoryGone, ...(onIdle && { onIdle }) }
    const uploader = new Uploader(engine, mirror, connection, work)
    this.#uploader = uploader
    const tending = this.#isOpen ? this.#tend(uploader) : undefined
    // What fails in it shows below; until then it must not count as unhandled.
    tending?.catch(() => {})
    try {
      await uploader.run()
    } finally {
      this.finish()
      await tending
      this.#noteProblems(uploader.problems)
      noteHeldBack(summary, uploader.heldBack > 0 ? [this.#heldByIngestion(uploader.heldBack)] : queue.listHeldBack())
    }
    return uploader.heldBack === 0 && !follower.hasFailed
  }

  /** While uploads go on: makes the directories of what has come, and lets the uploads know. */
  async #tend(uploader: Uploader): Promise<void> {
    uploader.keepOpen()
    try {
      for (await this.#bell.wait(); this.#isOpen; await this.#bell.wait()) {
        const rings = this.#rings
        await this.#makeDirectories()
        await this.#lookForEarlier()
        await this.#lookIntoDoubts()
        uploader.ring()
        this.#ringsSeen = rings
      }
    } finally {
      uploader.finish()
    }
  }

  #heldByIngestion(contents: number): HeldBack {
    return { limit: 'inIngestion', value: this.#engine.limits.inIngestion, contents, freesAt: null }
  }

  async #lookIntoDoubts(): Promise<void> {
    const { engine, mirror, connection } = this.#parts()
    const nowMs = engine.clock.monotonicMs()
    if (nowMs < this.#lookIntoDoubtsAtMs) return
    this.#lookIntoDoubtsAtMs = nowMs + DOUBT_PAUSE_MS
    await resolveDoubts(engine, mirror, connection, this.#work)
  }

  #noteProblems(problems: readonly PathProblem[]): void {
    for (const problem of problems) this.#problems.set(problem.path, problem)
  }

  #parts() {
    const { summary } = this.#work
    return { engine: this.#engine, mirror: this.#mirror, connection: this.#connection, summary }
  }
}

/** What was sent must be remembered: without room for that, nothing is sent. */
function assertRoom({ store }: Engine): void {
  const freeBytes = store.freeBytes()
  if (freeBytes >= RESERVE_BYTES) return
  const text = `Cannot send anything: only ${formatSize(freeBytes)} are free for the store in "${store.directory}"`
  throw new TemporaryError('disk-full', `${text}, ${formatSize(RESERVE_BYTES)} are kept in reserve`)
}

/** Notes what limits held back in this pass. */
export function noteHeldBack({ uploads }: SyncSummary, heldBackBy: readonly HeldBack[]): void {
  uploads.heldBackBy = heldBackBy
  uploads.heldBack = heldBackBy.reduce((sum, { contents }) => sum + contents, 0)
}
