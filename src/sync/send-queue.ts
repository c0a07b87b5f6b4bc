import { type HoldReason, holdReason, type SentSoFar } from '../rules/allowance.ts'
import { quarantineLeftMs } from '../rules/quarantine-pause.ts'
import type { SyncSummary } from '../rules/sync-summary.ts'
import { OPEN_FILES_START, type OpenFile, type OpenFileCursor } from '../store/files.ts'
import type { Engine, OpenMirror } from './engine.ts'
import { pathBelow } from './observe/observe-directory.ts'

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

/** Rows asked of the store at once. */
const PAGE = 256

/**
 * The plan for uploads, taken piece by piece: goes once through the files whose content is not stored and decides for
 * each: send it, take what is stored already (an alias), or hold it back. Call `take` inside a transaction.
 */
export class SendQueue {
  readonly #engine: Engine
  readonly #mirror: OpenMirror
  readonly #summary: SyncSummary
  readonly #needsDirectory: boolean
  readonly #links: boolean
  readonly #sent: { inRun: number; inDay: number; bytesInRun: number }
  readonly #held = new Set<number>()
  #cursor: OpenFileCursor = OPEN_FILES_START
  #page: OpenFile[] = []
  #isExhausted = false
  #isRenewed = false

  /** True when copies are sent as well, after the content itself is stored. */
  get links(): boolean {
    return this.#links
  }

  /** `sent` counts on across several passes of one run. */
  constructor(engine: Engine, mirror: OpenMirror, summary: SyncSummary, sent: SentSoFar, needsDirectory: boolean) {
    this.#engine = engine
    this.#mirror = mirror
    this.#summary = summary
    this.#sent = sent
    this.#needsDirectory = needsDirectory
    this.#links = needsDirectory && mirror.settings.duplicates === 'link'
  }

  get isExhausted(): boolean {
    return this.#isExhausted
  }

  /** Looks through all open files once more, after those it is at: whatever keeps coming, the last of them have their turn. */
  renew(): void {
    this.#isRenewed = true
    this.#isExhausted = false
  }

  /** Contents that a limit kept back, each counted once. */
  get heldBack(): number {
    return this.#held.size
  }

  /** At most `count` intents, written to the store. */
  take(count: number): Intent[] {
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
    const content = store.contents.findStanding(file.contentId)
    if (!content) return undefined
    if (content.state === 'stored') {
      if (this.#links && store.files.countCopies(file.contentId) > 1) return this.#intend(file, true)
      this.#receive(file.contentId)
      return undefined
    }
    if (
      content.state === 'refused' &&
      (content.isSetAside === 1 || quarantineLeftMs(content.retryAt, clock.nowMs()) > 0)
    )
      return undefined
    if (content.state === 'sending' || content.state === 'doubt') return undefined
    if (this.#needsDirectory && file.isDirectoryMade === 0) return undefined
    if (this.#hold(file.contentId, file.size) !== undefined) return undefined
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

  #hold(contentId: number, sizeBytes: number): HoldReason | undefined {
    const reason = holdReason(this.#engine.limits, this.#sent, sizeBytes)
    if (reason) this.#held.add(contentId)
    return reason
  }

  #count(sizeBytes: number): void {
    this.#sent.inRun += 1
    this.#sent.inDay += 1
    this.#sent.bytesInRun += sizeBytes
  }

  #intend(file: OpenFile, isLink: boolean): Intent {
    const { store, clock } = this.#engine
    const { contentId, directoryId, directory, name, sha256, mime, size: sizeBytes } = file
    const path = pathBelow(directory, name)
    const { row, runId } = this.#mirror
    const uploadId = store.uploads.intend({ contentId, mirrorId: row.id, path, runId, nowMs: clock.nowMs() })
    return { uploadId, contentId, isLink, directoryId, directory, name, path, sha256, mime, sizeBytes }
  }
}
