import { joinLibraryPath } from '../../contract/library-path.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { momentOf } from '../../foundation/clock.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import { DAY_MS, isoTime } from '../../foundation/text/times.ts'
import { decideUpload, type UploadPriority, uploadPriority } from '../../rules/decide-upload.ts'
import { type HeldBack, type HoldingLimit, holdingLimit, type QuotaUse, type UploadLimits } from '../../rules/limits.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { UploadState } from '../../store/tables/contents.ts'
import { OPEN_FILES_START, type OpenFile, type OpenFileCursor } from '../../store/tables/files.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { UploadSpan } from '../../store/tables/uploads.ts'
import type { EarlierUploads } from '../doubts/earlier-uploads.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { Claims } from '../fleet/claims.ts'
import type { QuotaScope, RunAttempts } from '../pass.ts'
import { withdrawUpload } from '../progress.ts'

/** The decision to upload a content from a path; committed before the first byte leaves (P2). */
export interface Intent {
  readonly uploadId: number
  readonly contentId: number
  readonly directoryId: number
  readonly directory: string
  readonly name: string
  readonly path: string
  readonly sha256: Uint8Array
  readonly mime: string
  readonly sizeBytes: number
}

interface PlanOptions {
  readonly summary: SyncSummary
  readonly quotaScope: QuotaScope
  readonly attempts: RunAttempts
  readonly earlier?: Pick<EarlierUploads, 'mustWait'>
  /** True: uploads name their directory, which must exist. */
  readonly needsDirectory: boolean
  readonly claims?: Claims | undefined
}

const PAGE = 256

/**
 * Plans the uploads of one mirror: goes through the files whose content has no receipt, ordered by directory and name (`listOpen` of
 * store/tables/files.ts). A second pass plans contents that failed before. Call `planNext` inside a transaction.
 */
export class UploadPlan {
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #options: PlanOptions
  readonly #quota: RunQuota
  #used: QuotaUse
  readonly #heldBack = new Map<keyof UploadLimits, Set<number>>()
  #cursor: OpenFileCursor = OPEN_FILES_START
  #page: OpenFile[] = []
  /** Files that are planned next, in place of others with the same content. */
  readonly #substitutes: OpenFile[] = []
  /** The other files of a content, by content; the next one last. */
  readonly #copies = new Map<number, OpenFile[]>()
  #isExhausted = false
  #mustRestart = false
  #priority: UploadPriority = 'first'
  #needsLastPass = false

  constructor(engine: Engine, mirror: OpenMirror, options: PlanOptions) {
    this.#engine = engine
    this.#mirror = mirror
    this.#options = options
    this.#quota = new RunQuota(engine, mirror.row, options.quotaScope)
    this.#used = this.#quota.read()
  }

  get isExhausted(): boolean {
    return this.#isExhausted && this.#substitutes.length === 0
  }

  get isWaiting(): boolean {
    if (this.#page.length + this.#substitutes.length > 0) return false
    return this.#options.claims?.isAsking(this.#cursor) === true
  }

  /** Begins another pass once the current one has reached its end, so that new files cannot starve old ones. */
  restart(): void {
    this.#mustRestart = !this.#isExhausted
    this.#isExhausted = false
  }

  /** Plans the next file that has the content, because the content could not be read from the file of this intent. */
  substitute({ contentId, directoryId, name }: Intent): void {
    const { files } = this.#engine.store
    const cursor = { directoryId, name }
    const copies =
      this.#copies.get(contentId) ?? files.listOpenCopies(this.#mirror.row.id, contentId, cursor, PAGE).reverse()
    const next = copies.pop()
    if (next) this.#substitutes.push(next)
    if (copies.length > 0) this.#copies.set(contentId, copies)
    else this.#copies.delete(contentId)
  }

  startOver(): void {
    this.#heldBack.clear()
    this.restart()
  }

  /** Returns how many contents each limit holds back; each content counts once. */
  listHeldBack(): HeldBack[] {
    return [...this.#heldBack].map(([limit, { size: contents }]) => {
      const freesAt = isoTime(this.#quota.freesAt(limit) ?? this.#options.claims?.freesAt ?? null)
      return { limit, value: Number(this.#engine.limits[limit]), contents, freesAt }
    })
  }

  planNext(count: number): Intent[] {
    // Other mirrors may have uploaded meanwhile, and uploads of a day ago no longer count.
    this.#used = this.#quota.read()
    const intents: Intent[] = []
    while (intents.length < count) {
      const substitute = this.#substitutes.pop()
      const file = substitute ?? this.#next()
      if (!file) break
      // A substitute is planned at once, since its content was chosen by priority before.
      const intent = this.#plan(file, file === substitute)
      if (intent) intents.push(intent)
    }
    return intents
  }

  #next(): OpenFile | undefined {
    while (this.#page.length === 0 && !this.#isExhausted && !this.isWaiting) this.#readPage()
    return this.#page.pop()
  }

  #readPage(): void {
    const { claims } = this.#options
    const { store } = this.#engine
    const files = claims ? claims.read(this.#cursor) : store.files.listOpen(this.#mirror.row.id, this.#cursor, PAGE)
    if (!files) return
    this.#page = files.toReversed()
    const last = this.#page[0]
    if (last) this.#cursor = { directoryId: last.directoryId, name: last.name }
    else this.#endPass()
  }

  #endPass(): void {
    this.#cursor = OPEN_FILES_START
    this.#options.claims?.forgetPages()
    this.#priority = this.#needsLastPass ? 'last' : 'first'
    this.#needsLastPass = false
    if (this.#priority === 'last') return
    this.#isExhausted = !this.#mustRestart
    this.#mustRestart = false
  }

  #plan(file: OpenFile, isSubstitute: boolean): Intent | undefined {
    // The page may be older than the latest receipts.
    const state = this.#engine.store.contents.getUploadState(file.contentId)
    switch (this.#decide(file, state)) {
      case 'upload':
        if (!isSubstitute && !this.#hasPriority(state)) return undefined
        if (this.#options.earlier?.mustWait(file) || this.#isHeldBack(file)) return undefined
        return this.#isClaimed(file) ? this.#intend(file) : undefined
      case 'alias':
        this.#receiveAliases(file.contentId)
        return undefined
      default:
        return undefined
    }
  }

  #hasPriority(state: UploadState): boolean {
    const priority = uploadPriority(state)
    if (priority === this.#priority) return true
    this.#needsLastPass ||= priority === 'last'
    return false
  }

  #decide(file: OpenFile, { state, isSetAside, retryAt }: UploadState) {
    const { exhausted, goneDirectories } = this.#options.attempts
    const isDirectoryThere = file.isDirectoryCreated === 1 && !goneDirectories.has(file.directoryId)
    const candidate = {
      state,
      isSetAside: isSetAside === 1,
      retryAt,
      isTried: exhausted.has(file.contentId),
      hasDirectory: isDirectoryThere || !this.#options.needsDirectory,
    }
    return decideUpload(candidate, this.#engine.clock.nowMs())
  }

  #receiveAliases(contentId: number): void {
    const { files } = this.#engine.store
    const received = files.receiveAll(contentId)
    const areAllCopies = received > 0 && received === files.countCopies(contentId)
    this.#options.summary.uploads.aliases += received - Number(areAllCopies)
  }

  #isClaimed(file: OpenFile): boolean {
    const reason = this.#options.claims?.unclaimedReason(file)
    if (reason === 'held') this.#holdBack(file, 'newPerDay')
    return reason === undefined
  }

  #isHeldBack(file: OpenFile): boolean {
    const limit = holdingLimit(this.#engine.limits, this.#used, file.size)
    if (limit !== undefined) this.#holdBack(file, limit)
    else for (const contents of this.#heldBack.values()) contents.delete(file.contentId)
    return limit !== undefined
  }

  #holdBack({ contentId, size: sizeBytes }: OpenFile, limit: keyof UploadLimits): void {
    const wasHeldBack = [...this.#heldBack.values()].map((contents) => contents.delete(contentId)).includes(true)
    const contents = this.#heldBack.get(limit) ?? new Set()
    this.#heldBack.set(limit, contents.add(contentId))
    if (!wasHeldBack) withdrawUpload(this.#engine.progress, sizeBytes)
  }

  #intend(file: OpenFile): Intent {
    const { inRun, inDay, bytesInRun } = this.#used
    this.#used = { inRun: inRun + 1, inDay: inDay + 1, bytesInRun: bytesInRun + file.size }
    const { store, clock } = this.#engine
    store.contents.setState(file.contentId, 'sending')
    const { contentId, directoryId, directory, name, sha256, mime, size: sizeBytes } = file
    const path = joinPath(directory, name)
    const { row, runId } = this.#mirror
    const remoteDirectory = this.#options.needsDirectory ? joinLibraryPath(row.remotePath, directory) : INBOX_PATH
    const begunAt = momentOf(clock)
    const uploadId = store.uploads.intend({ contentId, mirrorId: row.id, path, remoteDirectory, runId, begunAt })
    return { uploadId, contentId, directoryId, directory, name, path, sha256, mime, sizeBytes }
  }
}

/** Reads from the store how much of the limits is used, so that all mirrors of a run and all runs of a day share them. */
export class RunQuota {
  readonly #engine: Engine
  readonly #mirror: Pick<MirrorRow, 'id' | 'library'>
  readonly #scope: QuotaScope

  constructor(engine: Engine, mirror: Pick<MirrorRow, 'id' | 'library'>, scope: QuotaScope) {
    this.#engine = engine
    this.#mirror = mirror
    this.#scope = scope
  }

  /** Returns what was uploaded; counts that no limit needs are 0. */
  read(): QuotaUse {
    const { newPerRun, newPerDay, newBytesPerRun } = this.#engine.limits
    const { n, bytes } = newPerRun === null && newBytesPerRun === null ? { n: 0, bytes: 0 } : this.#tallyRun()
    return { inRun: n, bytesInRun: bytes, inDay: newPerDay === null ? 0 : this.#countDay() }
  }

  /** Returns when the limit allows more (wall clock); null if waiting alone does not help. */
  freesAt(limit: HoldingLimit): number | null {
    const { limits, clock } = this.#engine
    const scope = this.#scope
    if (limit === 'newPerRun' || limit === 'newBytesPerRun') {
      const isFreed = scope.kind === 'span' && scope.freesAfterMs !== undefined && limits[limit] !== 0
      return isFreed ? clock.nowMs() + scope.freesAfterMs : null
    }
    if (limit !== 'newPerDay' || limits.newPerDay === null || limits.newPerDay === 0) return null
    const { origin } = this.#mirror.library
    const excess = this.#countDay() - limits.newPerDay
    return this.#engine.store.uploads.leaveTime(origin, this.#last(DAY_MS), Math.max(0, excess)) ?? null
  }

  #tallyRun(): { n: number; bytes: number } {
    const { store, clock } = this.#engine
    const scope = this.#scope
    if (scope.kind === 'run') return store.uploads.tallyRun(scope.runId, scope.afterUploadId)
    return store.uploads.tallyWithin(this.#mirror.id, this.#last(clock.monotonicMs() - scope.sinceMs))
  }

  #countDay(): number {
    return this.#engine.store.uploads.countWithin(this.#mirror.library.origin, this.#last(DAY_MS))
  }

  #last(spanMs: number): UploadSpan {
    return { spanMs, now: momentOf(this.#engine.clock) }
  }
}
