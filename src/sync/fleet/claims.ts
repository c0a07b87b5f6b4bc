import { joinLibraryPath } from '../../contract/library-path.ts'
import { INBOX_PATH } from '../../contract/routes.ts'
import { momentOf } from '../../foundation/clock.ts'
import { joinPath } from '../../foundation/files/paths.ts'
import type { ClaimResult, LedgerLibrary, UploadPlace } from '../../ledger/ledger.ts'
import { quarantineLeftMs } from '../../rules/retry-delay.ts'
import type { SyncSummary } from '../../rules/sync-summary.ts'
import type { DoubtfulContent } from '../../store/tables/contents.ts'
import type { OpenFile, OpenFileCursor } from '../../store/tables/files.ts'
import type { MirrorContext } from '../engine.ts'
import type { RunAttempts } from '../pass.ts'
import { withdrawUpload } from '../progress.ts'
import { keyOf, type Membership } from './membership.ts'

const BEGINNING: OpenFileCursor = { directoryId: 0, name: '' }
/** Files that one query returns and one call claims. */
const PAGE = 500
/** What nobody has claimed is asked for so often; then it waits for another run. */
const MOST_VAIN_ROUNDS = 10

interface ClaimsOptions {
  readonly fleet: Membership
  readonly summary: SyncSummary
  readonly attempts: RunAttempts
  readonly needsDirectory: boolean
  /** What joining the fleet returned, before the stage looked in the library. */
  readonly looks: number
  /** What the limits of this host leave room for in this run. */
  readonly room: () => number
  /** A page of files can be read now, or asking has failed. */
  readonly onReady: () => void
}

/** A content that this host would send, with where. */
interface Candidate extends UploadPlace {
  readonly contentId: number
  readonly sha256: Uint8Array
  readonly mime: string
  readonly sizeBytes: number
}

interface Page {
  readonly cursor: OpenFileCursor
  /** Undefined while the ledger is asked. */
  files: readonly OpenFile[] | undefined
}

/** Another host sends it, a limit of all hosts holds it back, or nobody asked yet. */
type Unclaimed = 'elsewhere' | 'held' | 'unasked'

/**
 * Claims the contents of one mirror before they are sent, a page of files ahead of the plan, and records in the store what the
 * ledger says of the others: stored and refused ones need no upload of this host, doubtful ones a search first.
 */
export class Claims {
  readonly #context: Pick<MirrorContext, 'engine' | 'mirror'>
  readonly #options: ClaimsOptions
  /** Contents that other hosts send. */
  readonly #elsewhere = new Set<number>()
  readonly #held = new Set<number>()
  /** Contents that this object claimed. */
  readonly #mine = new Set<number>()
  /** Those that it gave back, since it could not send them. */
  readonly #givenBack = new Set<number>()
  #freesAt: number | null = null
  /** Contents that are open, and that nobody has claimed: their claim was lost, or they came after their page was asked for. */
  readonly #unasked = new Set<number>()
  /** How often what was unasked was planned again without an upload that ended. */
  #vainRounds = 0
  /** The page that the plan reads, and the one after it. */
  #pages: readonly Page[] = []
  #failure: { readonly error: unknown } | undefined
  readonly #asking = new Set<Promise<void>>()

  constructor(context: Pick<MirrorContext, 'engine' | 'mirror'>, options: ClaimsOptions) {
    this.#context = context
    this.#options = options
  }

  /** Throws what asking the ledger ended with. */
  assertWell(): void {
    if (this.#failure) throw this.#failure.error
  }

  /** Other hosts send some of the contents. */
  get isForOthers(): boolean {
    return this.#elsewhere.size > 0
  }

  /** When the limit of all hosts leaves room again (wall clock of the ledger). */
  get freesAt(): number | null {
    return this.#freesAt
  }

  /** Returns whether the files after `cursor` are being claimed. */
  isAsking(cursor: OpenFileCursor): boolean {
    const page = this.#pages.find((other) => isSame(other.cursor, cursor))
    return page !== undefined && page.files === undefined
  }

  /**
   * Returns the open files after `cursor`, whose contents are claimed as far as they can be, and begins to claim the next ones;
   * undefined until that is done.
   */
  read(cursor: OpenFileCursor): readonly OpenFile[] | undefined {
    const { files } = this.#pageAt(cursor)
    const last = files?.at(-1)
    if (last) this.#pageAt(last)
    return files
  }

  #pageAt(cursor: OpenFileCursor): Page {
    const known = this.#pages.find((page) => isSame(page.cursor, cursor))
    if (known) return known
    const page = this.#load(cursor)
    this.#pages = [...this.#pages.slice(-1), page]
    return page
  }

  /** Returns why the content is not this host's to send from this file; undefined if it is. */
  whyNot(file: Pick<OpenFile, 'contentId' | 'directory' | 'name'>): Unclaimed | undefined {
    const { contentId } = file
    if (this.#options.fleet.hasClaimedAt(contentId, this.#placeOf(file))) return undefined
    if (this.#elsewhere.has(contentId)) return 'elsewhere'
    if (this.#held.has(contentId)) return 'held'
    this.#unasked.add(contentId)
    return 'unasked'
  }

  /** For a dry run: records which contents other hosts have sent, or tried in vain, and claims nothing. */
  async foresee(): Promise<void> {
    const { store } = this.#context.engine
    let files: readonly OpenFile[]
    for (let cursor: OpenFileCursor | undefined = BEGINNING; cursor; cursor = files.at(-1)) {
      files = store.files.listOpen(this.#context.mirror.row.id, cursor, PAGE)
      const candidates = this.#listCandidates(files)
      const results = await this.#options.fleet.peek(this.#library, candidates.map(wantedOf))
      const known = new Map<number, [Candidate, ClaimResult]>()
      candidates.forEach((candidate, index) => {
        const result = results[index]
        if (result?.kind === 'stored' || result?.kind === 'refused') known.set(candidate.contentId, [candidate, result])
      })
      store.write(() => known.forEach(([candidate, result]) => void this.#record(candidate, result)))
    }
  }

  /** Claims contents in doubt, so that one host searches for each; returns those that are this host's. */
  async claimDoubtful(contents: readonly DoubtfulContent[]): Promise<DoubtfulContent[]> {
    const { store } = this.#context.engine
    await this.#ask(
      contents.flatMap(({ id: contentId, sha256, mime, size: sizeBytes }) => {
        const places = store.uploads.listUnaccounted(contentId)
        return places.map((place) => ({ contentId, sha256, mime, sizeBytes, ...place }))
      }),
    )
    const own = contents.filter(({ id }) => this.#options.fleet.hasClaimed(id))
    for (const { id } of own) this.#mine.add(id)
    return own
  }

  /**
   * Returns whether to plan again: some contents are nobody's, or other hosts send some and `leftMs` is left to wait for them; waits
   * until these are to be asked for again.
   */
  async awaitOthers(leftMs: number): Promise<boolean> {
    const { clock, signal, store } = this.#context.engine
    const { fleet } = this.#options
    // The end of their upload was withheld.
    for (const id of this.#mine) {
      if (fleet.hasClaimed(id) || store.contents.getUploadState(id).state !== 'new') continue
      this.#mine.delete(id)
      this.#unasked.add(id)
    }
    const mayAskAgain = this.#unasked.size > 0 && this.#vainRounds < MOST_VAIN_ROUNDS
    this.#vainRounds += 1
    if (!mayAskAgain && (this.#elsewhere.size === 0 || leftMs <= 0)) return false
    if (!mayAskAgain) await this.giveBack()
    await clock.sleep(mayAskAgain ? fleet.askAgainMs / 10 : Math.min(leftMs, fleet.askAgainMs), signal)
    this.askAgain()
    return true
  }

  /** Contents that are not sent in this run, since other hosts send them or nobody has claimed them. */
  get waiting(): number {
    return this.#elsewhere.size + this.#unasked.size
  }

  /** Forgets what other hosts send, so that the next pass asks for it. */
  askAgain(): void {
    this.#unasked.clear()
    this.#elsewhere.clear()
    this.forgetPages()
  }

  /** The plan begins anew: what is open has changed since its pages were read. */
  forgetPages(): void {
    this.#pages = []
  }

  /** Gives back what this object claimed and nobody has begun to send: nothing is left that can be sent soon, and other hosts may. */
  async giveBack(): Promise<void> {
    const { fleet } = this.#options
    const { inFlight } = this.#context.engine
    const kept = [...this.#mine].filter((id) => fleet.hasClaimed(id))
    if (kept.length === 0) return
    await fleet.giveBack(kept, (id) => inFlight.has(id))
    for (const id of kept.filter((one) => !fleet.hasClaimed(one))) {
      this.#mine.delete(id)
      this.#givenBack.add(id)
    }
    await fleet.settle()
  }

  /** Gives back all of it, once the ledger is no longer asked. */
  async end(): Promise<void> {
    await Promise.all(this.#asking)
    await this.giveBack()
    this.#mine.clear()
  }

  #load(cursor: OpenFileCursor): Page {
    const page: Page = { cursor, files: undefined }
    const { store } = this.#context.engine
    const files = store.files.listOpen(this.#context.mirror.row.id, cursor, PAGE)
    const candidates = this.#listCandidates(files)
    const asking = this.#ask(candidates, this.#options.room)
      .then(
        () => {
          page.files = files
        },
        (error: unknown) => {
          this.#failure ??= { error }
        },
      )
      .then(() => {
        this.#asking.delete(asking)
        this.#options.onReady()
      })
    this.#asking.add(asking)
    return page
  }

  /** The contents of files that may be sent now, and each place that this host has not claimed them for. */
  #listCandidates(files: readonly OpenFile[]): Candidate[] {
    const { store, clock } = this.#context.engine
    const { attempts } = this.#options
    return files.flatMap((file) => {
      const { contentId, sha256, mime, size: sizeBytes } = file
      if (attempts.exhausted.has(contentId)) return []
      const { state, retryAt, isSetAside } = store.contents.getUploadState(contentId)
      const isDue = isSetAside === 0 && quarantineLeftMs(retryAt, clock.nowMs()) === 0
      if (state !== 'new' && !(state === 'refused' && isDue)) return []
      return [{ contentId, sha256, mime, sizeBytes, ...this.#placeOf(file) }]
    })
  }

  #placeOf({ directory, name }: Pick<OpenFile, 'directory' | 'name'>): UploadPlace {
    const { remotePath } = this.#context.mirror.row
    const remoteDirectory = this.#options.needsDirectory ? joinLibraryPath(remotePath, directory) : INBOX_PATH
    return { path: joinPath(directory, name), remoteDirectory }
  }

  get #library(): LedgerLibrary {
    const { origin, tenantId, remoteId } = this.#context.mirror.row.library
    return { origin, tenantId, remoteId }
  }

  /** `atMost`: what may be claimed of those that nobody has; undefined: all. */
  async #ask(candidates: readonly Candidate[], atMost?: () => number): Promise<void> {
    const { fleet } = this.#options
    const wanted = candidates.filter((candidate) => !fleet.hasClaimedAt(candidate.contentId, candidate))
    // Who claimed them may have nothing left to send, and not give them back.
    for (const { contentId } of candidates) if (fleet.hasClaimed(contentId)) this.#mine.add(contentId)
    if (wanted.length === 0) return
    const results = await fleet.claim(this.#library, wanted.map(wantedOf), { looks: this.#options.looks, atMost })
    const { store } = this.#context.engine
    const others = new Map<number, [Candidate, ClaimResult]>()
    wanted.forEach((candidate, index) => {
      const result = results[index]
      if (result?.kind === 'mine') {
        this.#mine.add(candidate.contentId)
        if (!this.#givenBack.has(candidate.contentId)) this.#vainRounds = 0
      } else if (result) others.set(candidate.contentId, [candidate, result])
    })
    if (others.size === 0) return
    store.write(() => others.forEach(([candidate, result]) => void this.#record(candidate, result)))
  }

  #record(candidate: Candidate, result: ClaimResult): void {
    const { contentId } = candidate
    switch (result.kind) {
      case 'doubtful':
        this.#mine.add(contentId)
        this.#recordDoubt(candidate, result.places, result.host)
        break
      case 'stored':
        this.#recordStored(candidate, result)
        break
      case 'refused':
        this.#context.engine.store.contents.markRefused(contentId, result)
        if (result.isSetAside) this.#context.engine.store.quarantine.setAside(contentId)
        // The clocks of two hosts may differ about when it may be tried again.
        this.#options.attempts.exhausted.add(contentId)
        break
      case 'elsewhere':
        this.#elsewhere.add(contentId)
        break
      case 'held':
        this.#held.add(contentId)
        this.#freesAt = result.freesAt
        break
    }
  }

  /** Adds the places of other hosts, so that the search covers them. */
  #recordDoubt({ contentId }: Candidate, places: readonly UploadPlace[], host: string): void {
    const { store, clock } = this.#context.engine
    const { row, runId } = this.#context.mirror
    const known = new Set(store.uploads.listUnaccounted(contentId).map(keyOf))
    for (const place of places.filter((other) => !known.has(keyOf(other)))) {
      const begunAt = momentOf(clock)
      store.uploads.recordElsewhere({ contentId, mirrorId: row.id, ...place, runId, begunAt }, host)
    }
    if (store.contents.getUploadState(contentId).state !== 'doubt') store.contents.markInDoubt(contentId)
  }

  /** Another host has sent it: files of this one that have it are aliases, as those of another mirror are, unless the plan links them. */
  #recordStored(
    { contentId, sizeBytes }: Candidate,
    { resourceId, outcome, host }: Extract<ClaimResult, { kind: 'stored' }>,
  ): void {
    const { store, clock, progress } = this.#context.engine
    const { row, runId, settings } = this.#context.mirror
    const nowMs = clock.nowMs()
    const stored = { resourceId, isDuplicate: true, hasSecondLocation: false, mirrorId: row.id, runId, nowMs, host }
    store.contents.markStored(contentId, stored)
    if (outcome === 'searchable')
      store.contents.setIngestion(contentId, {
        status: 'completed',
        outcome,
        searchableAt: nowMs,
        note: null,
        seenAt: nowMs,
      })
    if (this.#options.needsDirectory && settings.duplicates === 'link') return
    this.#options.summary.uploads.aliases += store.files.receiveAll(contentId)
    withdrawUpload(progress, sizeBytes)
  }
}

function wantedOf({ path, remoteDirectory, ...content }: Candidate) {
  return { ...content, place: { path, remoteDirectory } }
}

function isSame(one: OpenFileCursor, other: OpenFileCursor): boolean {
  return one.directoryId === other.directoryId && one.name === other.name
}
