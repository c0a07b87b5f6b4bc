import type { FileError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { isoTime } from '../../foundation/text/times.ts'
import { reactToDoubt } from '../../rules/doubts.ts'
import { hasChangedUnderWay } from '../../rules/path-problems.ts'
import type { PathProblem } from '../../rules/problem-groups.ts'
import type { SeenIngestion } from '../../store/tables/ingestion.ts'
import type { UploadOutcome } from '../../store/tables/uploads.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import { quarantineUntil } from '../operator/quarantine.ts'
import type { UploadOptions } from '../pass.ts'
import { FAILED_AGAIN } from '../sinks.ts'
import type { UploadResult } from './upload-one.ts'
import type { Intent } from './upload-plan.ts'

type Stored = Extract<UploadResult, { kind: 'stored' }>

type FileProblem = Omit<PathProblem, 'path'> & { readonly intent: Intent }

export type RecorderOptions = Pick<UploadOptions, 'summary' | 'attempts' | 'onUnread'>

/** Records results inside a transaction; `committed` then counts, logs and announces them, `rolledBack` does not (P1, receipts). */
export class UploadRecorder {
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #options: RecorderOptions
  /** Functions to call once the current transaction is committed. */
  readonly #consequences: (() => void)[] = []
  readonly #problems = new Map<string, FileProblem>()

  constructor(engine: Engine, mirror: OpenMirror, options: RecorderOptions) {
    this.#engine = engine
    this.#mirror = mirror
    this.#options = options
  }

  /** Problems of files, without those of files that are gone or were recorded with another content since. */
  get problems(): PathProblem[] {
    const { files } = this.#engine.store
    return [...this.#problems].flatMap(([path, { intent, code, message }]) => {
      const isOver = files.find(intent.directoryId, intent.name)?.contentId !== intent.contentId
      return isOver ? [] : [{ path, code, message }]
    })
  }

  /** Records the result of one upload. `contested`: resource ids that answers gave for different contents. */
  recordResult(intent: Intent, answered: UploadResult, contested: ReadonlySet<string>): void {
    const result = answered.kind === 'stored' ? this.#asReceipt(intent, answered, contested) : answered
    switch (result.kind) {
      case 'stored':
        this.#recordStored(intent, result)
        break
      case 'no-directory':
        this.#engine.store.directories.markPending(this.#mirror.row.id, intent.directory)
        this.recordNotSent(intent)
        break
      case 'refused':
        this.#recordRefused(intent, result.code, result.message)
        break
      case 'doubt':
        this.#recordDoubt(intent, result)
        break
      case 'not-sent':
        this.recordNotSent(intent)
        this.#recordUnread(intent, result.problem)
        break
      case 'fatal':
      case 'unclaimed':
        this.recordNotSent(intent)
        break
    }
  }

  committed(): void {
    for (const follow of this.#consequences.splice(0)) follow()
  }

  /** Forgets what was to follow the transaction; its results may be recorded again. */
  rolledBack(): void {
    this.#consequences.length = 0
  }

  /** Records that nothing was sent, so that the content may be uploaded as if no upload had begun. */
  recordNotSent(intent: Intent): void {
    this.#engine.store.contents.setState(intent.contentId, 'new')
    this.#endUpload(intent, 'not-sent')
  }

  /** Returns a doubt if the answer names the resource of other bytes; that of a duplicate may have the same bytes as another MIME type. */
  #asReceipt(intent: Intent, stored: Stored, contested: ReadonlySet<string>): UploadResult {
    const { store, progress } = this.#engine
    const owner = store.contents.findByResource(this.#mirror.row.library.id, stored.resourceId)
    if (!owner && !contested.has(stored.resourceId)) return stored
    if (stored.isDuplicate && owner?.sha256.equals(intent.sha256)) return stored
    this.#onceCommitted(() => {
      progress.bytesSent -= intent.sizeBytes
    })
    const message = `Cannot upload "${escapeText(intent.name)}": the service answered with the resource of another content`
    return { kind: 'doubt', cause: 'answer-malformed', message }
  }

  #recordStored(intent: Intent, { resourceId, isDuplicate, isSearchable }: Stored): void {
    const { store, clock, progress, metrics, fileLog } = this.#engine
    const nowMs = clock.nowMs()
    const { runId, row } = this.#mirror
    const hasSecondLocation = isDuplicate && store.contents.getUploadState(intent.contentId).doubts > 0
    const { contentId, path, sizeBytes } = intent
    store.contents.markStored(contentId, { resourceId, isDuplicate, hasSecondLocation, mirrorId: row.id, runId, nowMs })
    if (isSearchable) {
      store.contents.setIngestion(contentId, searchableAt(nowMs))
      this.#onceCommitted(() => {
        if (sizeBytes > 0) progress.searchable += 1
        metrics.searchableAfter(0)
      })
    }
    this.#endUpload(intent, isDuplicate ? 'duplicate' : 'created')
    const aliases = Math.max(0, store.files.receiveAll(contentId) - 1)
    const { uploads } = this.#options.summary
    this.#onceCommitted(() => {
      uploads[isDuplicate ? 'duplicates' : 'created'] += 1
      uploads.aliases += aliases
      uploads.bytes += sizeBytes
      progress.contentsSent += 1
      this.#problems.delete(path)
      fileLog.sent({ mirror: row.name, path, sizeBytes, resourceId, isDuplicate })
    })
  }

  /** Records that the file changed since it was hashed, or cannot be read any more. */
  #recordUnread(intent: Intent, problem: FileError): void {
    this.#addProblem(intent, problem)
    if (hasChangedUnderWay(problem.code)) this.#onceCommitted(() => this.#options.onUnread?.(intent.path))
  }

  #addProblem(intent: Intent, { code, message }: Omit<PathProblem, 'path'>): void {
    this.#problems.set(intent.path, { intent, code, message })
  }

  #recordRefused(intent: Intent, code: string, message: string): void {
    const retryAt = quarantineUntil(this.#engine, intent.contentId, code)
    this.#options.attempts.exhausted.add(intent.contentId)
    this.#engine.store.contents.markRefused(intent.contentId, { code, message, retryAt })
    this.#endUpload(intent, 'refused', message)
  }

  #recordDoubt(intent: Intent, { cause, message }: Extract<UploadResult, { kind: 'doubt' }>): void {
    const { store, clock, logger } = this.#engine
    const { contentId, path } = intent
    const reaction = reactToDoubt(store.contents.getUploadState(contentId), cause)
    store.contents.markInDoubt(contentId)
    this.#endUpload(intent, 'doubt', message)
    const mirror = this.#mirror.row.name
    if (reaction.kind === 'resend') {
      const fields = { mirror, path, reason: message }
      this.#onceCommitted(() =>
        logger.debug('it is unknown whether an upload arrived; the next run checks this', fields),
      )
      return
    }
    this.#options.attempts.exhausted.add(contentId)
    const { code, durationMs } = reaction
    const retryAt = clock.nowMs() + durationMs
    store.contents.setProblem(contentId, { code, message: `${message}; it is not known whether it arrived`, retryAt })
    const fields = { mirror, path, code, reason: message, retryAt: isoTime(retryAt) }
    this.#onceCommitted(() => logger.warn(FAILED_AGAIN, fields))
  }

  #endUpload(intent: Intent, outcome: UploadOutcome, message: string | null = null): void {
    const { store, clock, metrics, fleet } = this.#engine
    store.uploads.end(intent.uploadId, outcome, message, clock.nowMs())
    fleet?.recordEnd(intent.contentId, outcome)
    this.#onceCommitted(() => metrics.uploadEnded(outcome, intent.sizeBytes))
  }

  #onceCommitted(follow: () => void): void {
    this.#consequences.push(follow)
  }
}

function searchableAt(nowMs: number): SeenIngestion {
  return { status: 'completed', outcome: 'searchable', searchableAt: nowMs, note: null, seenAt: nowMs }
}
