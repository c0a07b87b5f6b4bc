import { joinLibraryPath } from '../../contract/library-path.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { joinPath } from '../../foundation/paths.ts'
import { quarantineLeftMs } from '../../rules/quarantine-pause.ts'
import { type HeldBack, holdingLimit, type QuotaUse, type UploadLimits } from '../../rules/quota.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import { OPEN_FILES_START, type OpenFile, type OpenFileCursor } from '../../store/files.ts'
import type { EarlierUploads } from '../doubts/earlier-uploads.ts'
import type { Engine, OpenMirror } from '../engine.ts'
import type { RunAttempts } from '../pass.ts'
import { withdrawUpload } from '../progress.ts'
import type { RunQuota } from './run-quota.ts'

/** A content that is to be sent from a path; committed before its first byte leaves (P2). */
export interface Intent {
  readonly uploadId: number
  readonly contentId: number
  /** The content is stored already, and is sent again so that it gains this location. */
  readonly isLink: boolean
  readonly directoryId: number
  readonly directory: string
  readonly name: string
  readonly path: string
  readonly sha256: Uint8Array
  readonly mime: string
  readonly sizeBytes: number
}

interface QueuePlan {
  readonly summary: SyncSummary
  readonly quota: RunQuota
  readonly attempts: RunAttempts
  /** Keeps back what may be at the service already. */
  readonly earlier?: Pick<EarlierUploads, 'keepsBack'>
}

/** Rows asked of the store at once. */
const PAGE = 256

/**
 * The plan for uploads, taken piece by piece: goes once through the files whose content is not stored and decides for
 * each: send it, take what is stored already (an alias), or hold it back. Call `take` inside a transaction.
 */
export class UploadQueue {
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #summary: SyncSummary
  readonly #attempts: RunAttempts
  readonly #earlier: QueuePlan['earlier']
  readonly #needsDirectory: boolean
  readonly #links: boolean
  readonly #quota: RunQuota
  #used: QuotaUse
  readonly #held = new Map<keyof UploadLimits, Set<number>>()
  #cursor: OpenFileCursor = OPEN_FILES_START
  #page: OpenFile[] = []
  /** Files that stand in for others of the same content. */
  readonly #substitutes: OpenFile[] = []
  /** By content: further ones, the last one next. */
  readonly #copies = new Map<number, OpenFile[]>()
  #isExhausted = false
  #isRenewed = false

  /** True when copies are sent as well, after the content itself is stored. */
  get links(): boolean {
    return this.#links
  }

  constructor(engine: Engine, mirror: OpenMirror, plan: QueuePlan, needsDirectory: boolean) {
    this.#engine = engine
    this.#mirror = mirror
    this.#summary = plan.summary
    this.#attempts = plan.attempts
    this.#earlier = plan.earlier
    this.#quota = plan.quota
    this.#used = plan.quota.read()
    this.#needsDirectory = needsDirectory
    this.#links = needsDirectory && mirror.settings.duplicates === 'link'
  }

  get isExhausted(): boolean {
    return this.#isExhausted && this.#substitutes.length === 0
  }

  /** Looks through all open files once more, after those it is at: whatever keeps coming, the last of them have their turn. */
  renew(): void {
    this.#isRenewed = true
    this.#isExhausted = false
  }

  /** What could not be sent from this file is sent from the next one with the same content. */
  passOver({ contentId, directoryId, name }: Intent): void {
    const { files } = this.#engine.store
    const cursor = { directoryId, name }
    const copies =
      this.#copies.get(contentId) ?? files.listOpenCopies(this.#mirror.row.id, contentId, cursor, PAGE).reverse()
    const next = copies.pop()
    if (next) this.#substitutes.push(next)
    if (copies.length > 0) this.#copies.set(contentId, copies)
    else this.#copies.delete(contentId)
  }

  /** What each limit kept back, each content counted once. */
  listHeldBack(): HeldBack[] {
    return [...this.#held].map(([limit, contents]) => {
      const freesAt = this.#quota.freesAt(limit)
      const value = Number(this.#quota.limits[limit])
      return {
        limit,
        value,
        contents: contents.size,
        freesAt: freesAt === null ? null : new Date(freesAt).toISOString(),
      }
    })
  }

  /** At most `count` intents, written to the store. */
  take(count: number): Intent[] {
    // Other mirrors may have sent something meanwhile, and what was sent a day ago counts no longer.
    this.#used = this.#quota.read()
    const intents: Intent[] = []
    while (intents.length < count) {
      const file = this.#next()
      if (!file) break
      const intent = this.#decide(file)
      if (intent) intents.push(intent)
    }
    return intents
  }

  #next(): OpenFile | undefined {
    const substitute = this.#substitutes.pop()
    if (substitute) return substitute
    if (this.#page.length === 0 && !this.#isExhausted) this.#turnPage()
    if (this.#page.length === 0 && this.#isRenewed) {
      this.#isRenewed = false
      this.#cursor = OPEN_FILES_START
      this.#turnPage()
    }
    return this.#page.pop()
  }

  #turnPage(): void {
    this.#page = this.#engine.store.files.listOpen(this.#mirror.row.id, this.#cursor, PAGE).reverse()
    this.#isExhausted = this.#page.length === 0 && !this.#isRenewed
    const last = this.#page[0]
    if (last) this.#cursor = { directoryId: last.directoryId, name: last.name }
  }

  #decide(file: OpenFile): Intent | undefined {
    const { store, clock } = this.#engine
    // The page may be older than what was sent meanwhile.
    const content = store.contents.getStanding(file.contentId)
    if (content.state === 'stored') {
      if (this.#links && store.files.countCopies(file.contentId) > 1) return this.#intendLink(file)
      this.#receive(file.contentId)
      return undefined
    }
    if (
      content.state === 'refused' &&
      (content.isSetAside === 1 || quarantineLeftMs(content.retryAt, clock.nowMs()) > 0)
    )
      return undefined
    if (content.state === 'sending' || content.state === 'doubt') return undefined
    if (this.#attempts.exhausted.has(file.contentId)) return undefined
    if (this.#needsDirectory && (file.isDirectoryMade === 0 || this.#attempts.goneDirectories.has(file.directoryId))) {
      return undefined
    }
    if (this.#earlier?.keepsBack(file)) return undefined
    if (this.#isHeldBack(file.contentId, file.size)) return undefined
    store.contents.setState(file.contentId, 'sending')
    this.#count(file.size)
    return this.#intend(file, false)
  }

  /** Of several files with one content, one stands for the resource and the others are aliases. */
  #receive(contentId: number): void {
    const { files } = this.#engine.store
    const received = files.receiveAll(contentId)
    const isAllThereIs = received > 0 && received === files.countCopies(contentId)
    this.#summary.uploads.aliases += received - Number(isAllThereIs)
  }

  #isHeldBack(contentId: number, sizeBytes: number): boolean {
    const wasHeldBack = [...this.#held.values()].map((contents) => contents.delete(contentId)).includes(true)
    const limit = holdingLimit(this.#quota.limits, this.#used, sizeBytes)
    if (limit === undefined) return false
    const contents = this.#held.get(limit) ?? new Set()
    this.#held.set(limit, contents.add(contentId))
    if (!wasHeldBack) withdrawUpload(this.#engine.progress, sizeBytes)
    return true
  }

  #count(sizeBytes: number): void {
    const { inRun, inDay, bytesInRun } = this.#used
    this.#used = { inRun: inRun + 1, inDay: inDay + 1, bytesInRun: bytesInRun + sizeBytes }
  }

  /** Each copy is sent once in a run: it stays open until its end is committed, and longer when it failed. */
  #intendLink(file: OpenFile): Intent | undefined {
    const key = `${file.directoryId}/${file.name}`
    if (this.#attempts.links.has(key)) return undefined
    this.#attempts.links.add(key)
    return this.#intend(file, true)
  }

  #intend(file: OpenFile, isLink: boolean): Intent {
    const { store, clock } = this.#engine
    const { contentId, directoryId, directory, name, sha256, mime, size: sizeBytes } = file
    const path = joinPath(directory, name)
    const { row, runId } = this.#mirror
    const place = this.#needsDirectory ? joinLibraryPath(row.remotePath, directory) : INBOX_PATH
    const uploadId = store.uploads.intend({ contentId, mirrorId: row.id, path, place, runId, nowMs: clock.nowMs() })
    return { uploadId, contentId, isLink, directoryId, directory, name, path, sha256, mime, sizeBytes }
  }
}
