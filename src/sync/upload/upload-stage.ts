import type { Timer } from '../../foundation/clock.ts'
import { AutoResetEvent } from '../../foundation/concurrency/auto-reset-event.ts'
import { onAbort } from '../../foundation/concurrency/waits.ts'
import { RootError, TemporaryError } from '../../foundation/errors.ts'
import { isoTime } from '../../foundation/text/times.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { type HeldBack, ingestionShare, RESERVE_BYTES, roomInRun } from '../../rules/limits.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import { recordHeldBack } from '../../rules/sync-summary.ts'
import { EarlierUploads } from '../doubts/earlier-uploads.ts'
import type { Engine, MirrorContext } from '../engine.ts'
import { Claims } from '../fleet/claims.ts'
import type { UploadOptions } from '../pass.ts'
import { announceUploads } from '../progress.ts'
import { UploadPreparation } from './prepare-uploads.ts'
import { UploadBatcher } from './upload-batcher.ts'
import { RefusalExplainer, type UploadResult, uploadOne } from './upload-one.ts'
import { type Intent, RunQuota, UploadPlan } from './upload-plan.ts'

/** A file up to this size is sent in one buffer (`remote/wire/multipart.ts`). */
const LARGE_BYTES = 1 << 17

/** `open`: more files may come; `draining`: ends when all work is done; `closed`: begins nothing. */
type StageState = 'open' | 'draining' | 'closed'

/**
 * Uploads the contents of one mirror, and first creates its directories and resolves its doubts. The queues bound how many uploads of all
 * mirrors run at once, `inIngestion` how many resources are in ingestion. Call `run` once: it returns after `drain`, when all is uploaded.
 */
export class UploadStage {
  readonly #context: MirrorContext
  readonly #engine: Engine
  readonly #options: UploadOptions
  readonly #earlier: EarlierUploads
  readonly #preparation: UploadPreparation
  readonly #refusals: RefusalExplainer
  readonly #event = new AutoResetEvent()
  readonly #queue: Intent[] = []
  #transfers = 0
  #state: StageState = 'open'
  #plan: UploadPlan | undefined
  #batcher: UploadBatcher | undefined
  #claims: Claims | undefined
  #othersTimer: Timer | undefined
  #mustPrepare = false
  #preparing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined
  #unsentCount = 0

  constructor(context: MirrorContext, options: UploadOptions) {
    this.#context = context
    this.#engine = context.engine
    this.#options = options
    this.#earlier = new EarlierUploads(context, options)
    this.#preparation = new UploadPreparation(context, options, this.#earlier)
    this.#refusals = new RefusalExplainer(context, options.attempts)
  }

  wake(): void {
    this.#mustPrepare = true
    this.#event.set()
  }

  drain(): void {
    if (this.#state === 'open') this.#state = 'draining'
    this.#event.set()
  }

  get isIdle(): boolean {
    return !this.#mustPrepare && this.#preparing === undefined && this.#hasUploadedAll
  }

  /** Problems of paths, also after `run` threw. If the mirror's directory disappeared, none, because then all files seem to be gone. */
  get problems(): PathProblem[] {
    if (this.#failure?.error instanceof RootError) return []
    const problems = new Map(this.#preparation.problems)
    for (const problem of this.#batcher?.problems ?? []) problems.set(problem.path, problem)
    return [...problems.values()]
  }

  /**
   * Uploads until the stage is drained. If an error stops it, throws that once all uploads in flight are committed. Steps: prepare
   * (free space, directories, doubts of earlier runs); upload what is planned, and plan again after `wake`; when no work remains, prepare
   * again and upload what has become possible; give back intents that have not begun, await the uploads in flight and commit their
   * results.
   */
  async run(): Promise<void> {
    const { signal } = this.#engine
    assertDiskSpace(this.#engine)
    await this.#joinFleet()
    const plan = await this.#createPlan()
    this.#plan = plan
    using batcher = new UploadBatcher(this.#engine, this.#context.mirror, plan, {
      ...this.#options,
      onCommitted: this.#onCommitted,
      onDue: () => this.#event.set(),
    })
    this.#batcher = batcher
    try {
      await this.#preparation.begin(this.#claims)
      await this.#uploadRounds(plan, batcher)
    } catch (error) {
      this.#failure ??= { error }
    }
    await this.#windDown(batcher)
    const heldBack = this.#unsentCount > 0 ? [this.#heldByIngestion()] : plan.listHeldBack()
    recordHeldBack(this.#options.summary, [...heldBack, ...this.#heldByOthers()])
    try {
      signal.throwIfAborted()
      this.#context.mirror.root.assertInPlace()
    } catch (error) {
      this.#failure ??= { error }
    }
    if (this.#failure) throw this.#failure.error
  }

  async #joinFleet(): Promise<void> {
    const { fleet } = this.#engine
    if (!fleet) return
    this.#engine.progress.phase = 'ledger'
    const requiredSearches = await fleet.join()
    const { summary, attempts } = this.#options
    const needsDirectory = await this.#needsDirectory()
    const onReady = () => this.#event.set()
    const quota = new RunQuota(this.#engine, this.#context.mirror.row, this.#options.quotaScope)
    const room = () => roomInRun(this.#engine.limits, quota.read())
    const asked = { fleet, summary, attempts, needsDirectory, requiredSearches, room, onReady }
    this.#claims = new Claims(this.#context, asked)
  }

  async #needsDirectory(): Promise<boolean> {
    const { engine, connection } = this.#context
    const { uploadDirectoryField } = await connection.client.capabilities(engine.signal)
    return uploadDirectoryField.field !== undefined
  }

  async #createPlan(): Promise<UploadPlan> {
    const { engine, mirror } = this.#context
    const needsDirectory = await this.#needsDirectory()
    const options = { ...this.#options, earlier: this.#earlier, needsDirectory, claims: this.#claims }
    return new UploadPlan(engine, mirror, options)
  }

  get #hasUploadedAll(): boolean {
    return this.#batcher?.size === 0 && this.#plan?.isExhausted === true
  }

  async #uploadRounds(plan: UploadPlan, batcher: UploadBatcher): Promise<void> {
    const { signal, store, progress } = this.#engine
    const wake = () => this.#event.set()
    const startedMs = this.#engine.clock.monotonicMs()
    using _capacity = this.#engine.ingestion.onCapacity(wake)
    using _end = onAbort(signal, wake)
    for (;;) {
      announceUploads(progress, store.contents.countToSend(this.#context.mirror.row.id))
      if (!(await this.#uploadRound(plan, batcher))) return
      const hasMore = await this.#preparation.findMore()
      const remainingMs =
        startedMs + (this.#options.waitForOthersMs ?? this.#options.waitMs) - this.#engine.clock.monotonicMs()
      if (!hasMore && this.#claims?.waitsForOthers) progress.phase = 'hosts'
      if (!hasMore && !(await this.#claims?.awaitOthers(remainingMs))) return
      plan.startOver()
    }
  }

  /** Returns true when no work remains; false when this run cannot continue. */
  async #uploadRound(plan: UploadPlan, batcher: UploadBatcher): Promise<boolean> {
    while (!this.#mustStop) {
      this.#claims?.throwIfFailed()
      this.#enqueue(batcher, batcher.commitIfDue(this.#capacity))
      if (this.#state === 'open') this.#prepareIfWoken(plan)
      if (this.isIdle) this.#options.onIdle?.()
      if (this.#state === 'draining' && this.#hasUploadedAll && !this.#preparing) return true
      if (!(await this.#waitForEvent(plan, batcher))) return false
    }
    return false
  }

  get #mustStop(): boolean {
    return this.#failure !== undefined || this.#options.follower.hasFailed || this.#engine.signal.aborted
  }

  /** Returns false if ingestion stayed full for as long as the run waits for it. */
  async #waitForEvent(plan: UploadPlan, batcher: UploadBatcher): Promise<boolean> {
    const { clock, store, progress } = this.#engine
    if (plan.isExhausted) this.#watchOthers()
    if (plan.isWaiting && batcher.size === 0) progress.phase = 'ledger'
    else if (progress.phase === 'ledger') progress.phase = 'uploading'
    if (batcher.size > 0 || plan.isExhausted || plan.isWaiting) await this.#event.wait()
    // Otherwise ingestion is full. Freed capacity sets the event, and so does the commit of an upload that was not stored.
    else if (await this.#event.waitAtMost(clock, this.#options.waitMs)) {
      this.#unsentCount = store.contents.countToSend(this.#context.mirror.row.id).n
      return false
    }
    return true
  }

  /** Asks at intervals whether contents that other hosts claimed are free. */
  #watchOthers(): void {
    const { clock, fleet } = this.#engine
    if (this.#othersTimer || this.#state !== 'open' || !fleet || !this.#claims?.waitsForOthers) return
    this.#othersTimer = clock.startTimer(fleet.askAgainMs, () => {
      this.#othersTimer = undefined
      if (this.#state !== 'open' || this.#options.isHeld?.()) return
      this.#claims?.askAgain()
      this.wake()
    })
  }

  get #capacity(): number {
    const { limits, ingestion, inFlight, fleet } = this.#engine
    const share = ingestionShare(limits.inIngestion, fleet?.busyHosts ?? 1)
    return Math.max(0, share - ingestion.countPending() - inFlight.size)
  }

  #enqueue(batcher: UploadBatcher, intents: readonly Intent[]): void {
    this.#queue.push(...intents)
    const wanted = Math.min(batcher.inFlight + this.#queue.length, this.#engine.uploads.concurrency)
    for (; this.#transfers < wanted; this.#transfers += 1) this.#startTransfer(batcher)
  }

  #startTransfer(batcher: UploadBatcher): void {
    void this.#engine.uploads.add(() => this.#uploadQueued(batcher))
  }

  /** Uploads one queued intent after the other, and lets other mirrors upload in between. */
  async #uploadQueued(batcher: UploadBatcher): Promise<void> {
    for (let intent = this.#queue.shift(); intent; intent = this.#queue.shift()) {
      await this.#upload(batcher, intent)
      if (this.#engine.uploads.size > 0 && this.#queue.length > 0) {
        this.#startTransfer(batcher)
        return
      }
    }
    this.#transfers -= 1
  }

  async #upload(batcher: UploadBatcher, intent: Intent): Promise<void> {
    const upload = () => this.#uploadNow(batcher, intent)
    await (intent.sizeBytes > LARGE_BYTES ? this.#engine.largeUploads.add(upload) : upload())
  }

  async #uploadNow(batcher: UploadBatcher, intent: Intent): Promise<void> {
    // When the stage ends, it gives this intent back.
    if (this.#mustStop) return
    batcher.begin(intent)
    const result = await this.#uploadToDirectory(intent)
    if (result.kind === 'fatal') this.#failure ??= { error: result.error }
    // While the disk of the service is full, each further upload would end in doubt.
    if (result.kind === 'doubt' && result.cause === 'service-full')
      this.#failure ??= { error: libraryFull(this.#engine.service) }
    batcher.end(intent, result)
    // Otherwise the result waits for the next commit that is due.
    if (batcher.wantsCommit || this.#failure || this.#state === 'closed') this.#event.set()
  }

  /** Uploads a content unless its directory was found gone, and finds out why the service refused it. */
  async #uploadToDirectory(intent: Intent): Promise<UploadResult> {
    if (this.#options.attempts.goneDirectories.has(intent.directoryId)) return { kind: 'no-directory' }
    const result = await uploadOne(this.#context, intent)
    if (result.kind !== 'refused') return result
    return this.#failure ? { kind: 'fatal', error: this.#failure.error } : await this.#refusals.explain(intent, result)
  }

  readonly #onCommitted = (results: readonly UploadResult[]): void => {
    if (results.some(({ kind }) => kind === 'no-directory')) this.wake()
    // Not every upload leaves a resource in ingestion, and other mirrors may wait for its capacity.
    this.#engine.ingestion.announce()
  }

  #prepareIfWoken(plan: UploadPlan): void {
    if (!this.#mustPrepare || this.#preparing) return
    this.#mustPrepare = false
    const prepare = async () => {
      try {
        await this.#preparation.continue()
        plan.restart()
      } catch (error) {
        this.#failure ??= { error }
      }
      this.#preparing = undefined
      this.#event.set()
    }
    this.#preparing = prepare()
  }

  async #windDown(batcher: UploadBatcher): Promise<void> {
    this.#state = 'closed'
    // Intents are given back at once: if the process ends now, only the uploads in flight are in doubt.
    for (this.#release(batcher); batcher.inFlight > 0; this.#release(batcher)) await this.#event.wait()
    await this.#preparing
    this.#othersTimer?.[Symbol.dispose]()
    await this.#claims?.end()
  }

  /** Gives intents back. If the commit fails, notes the error, so that the uploads in flight are still awaited. */
  #release(batcher: UploadBatcher): void {
    try {
      batcher.release()
      this.#engine.ingestion.announce()
    } catch (error) {
      this.#failure ??= { error }
    }
  }

  #heldByOthers(): HeldBack[] {
    const { clock, fleet } = this.#engine
    const contents = this.#claims?.unclaimedCount ?? 0
    const freesAt = isoTime(clock.nowMs() + (fleet?.askAgainMs ?? 0))
    return contents === 0 ? [] : [{ limit: 'other-host', value: 0, contents, freesAt }]
  }

  #heldByIngestion(): HeldBack {
    const { inIngestion } = this.#engine.limits
    return { limit: 'inIngestion', value: inIngestion, contents: this.#unsentCount, freesAt: null }
  }
}

function assertDiskSpace({ store }: Engine): void {
  const freeBytes = store.freeBytes()
  if (freeBytes >= RESERVE_BYTES) return
  const text = `Cannot send anything: the disk of the store in "${store.directory}" has only ${formatSize(freeBytes)} free`
  throw new TemporaryError(
    'disk-full',
    `${text}, and shelfd keeps ${formatSize(RESERVE_BYTES)} in reserve; free some space`,
  )
}

function libraryFull({ directory }: Engine['service']): TemporaryError {
  const disk = directory === undefined ? 'The disk of the service' : `The disk of the library in "${directory}"`
  return new TemporaryError('service-full', `${disk} is full: nothing more is sent until there is room`)
}
