import type { ClaimResult } from '../../ledger/ledger.ts'
import type { DoubtfulContent } from '../../store/tables/contents.ts'
import type { OpenFile, OpenFileCursor } from '../../store/tables/files.ts'
import type { MirrorContext } from '../engine.ts'
import { type AnswerOptions, type Candidate, LedgerAnswers, PAGE, wantedOf } from './ledger-answers.ts'

/** Unclaimed contents are asked for this often; then they wait for another run. */
const MAX_VAIN_ROUNDS = 10
/** Files that the first page asks for, and the least of a later one. */
const FIRST_PAGE = 64

interface ClaimsOptions extends AnswerOptions {
  /** The count of required searches when the stage searched the library. */
  readonly requiredSearches: number
  /** What the limits of this host leave room for in this run. */
  readonly room: () => number
  /** A page of files can be read now, or asking has failed. */
  readonly onReady: () => void
}

interface Page {
  readonly cursor: OpenFileCursor
  files: readonly OpenFile[] | undefined
}

/** Another host sends it, a limit of all hosts holds it back, or the ledger was not asked yet. */
type Unclaimed = 'elsewhere' | 'held' | 'unasked'

/**
 * Claims the contents of one mirror a page of files before the plan needs them, and records the ledger's answers in the store: stored and
 * refused contents need no upload by this host, doubtful ones a search first. The ledger decides: `claim_1` in 001-hosts-and-claims.sql.
 */
export class Claims {
  readonly #context: Pick<MirrorContext, 'engine' | 'mirror'>
  readonly #options: ClaimsOptions
  readonly #answers: LedgerAnswers
  readonly #elsewhere = new Set<number>()
  readonly #held = new Set<number>()
  readonly #mine = new Set<number>()
  /** Contents whose claims were given back, since this host could not send them. */
  readonly #givenBack = new Set<number>()
  #freesAt: number | null = null
  /** Open contents that no host has claimed: their claim was lost, or they came after their page was asked for. */
  readonly #unasked = new Set<number>()
  /** How often unclaimed contents were planned again without an upload that ended. */
  #vainRounds = 0
  #pages: readonly Page[] = []
  /** How many files the next page asks for. */
  #size = FIRST_PAGE
  #failure: { readonly error: unknown } | undefined
  readonly #asking = new Set<Promise<void>>()

  constructor(context: Pick<MirrorContext, 'engine' | 'mirror'>, options: ClaimsOptions) {
    this.#context = context
    this.#options = options
    this.#answers = new LedgerAnswers(context, options)
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error
  }

  get isForOthers(): boolean {
    return this.#elsewhere.size > 0
  }

  get freesAt(): number | null {
    return this.#freesAt
  }

  isAsking(cursor: OpenFileCursor): boolean {
    const page = this.#pages.find((other) => isSame(other.cursor, cursor))
    return page !== undefined && page.files === undefined
  }

  /** Returns the open files after `cursor` once their contents are claimed, and begins to claim the next page; undefined until then. */
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

  /** Returns why this host must not send the content from this file; undefined if it may. */
  unclaimedReason(file: Pick<OpenFile, 'contentId' | 'directory' | 'name'>): Unclaimed | undefined {
    const { contentId } = file
    if (this.#options.fleet.hasClaimedAt(contentId, this.#answers.placeOf(file))) return undefined
    if (this.#elsewhere.has(contentId)) return 'elsewhere'
    if (this.#held.has(contentId)) return 'held'
    this.#unasked.add(contentId)
    return 'unasked'
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

  /** Waits until contents of other hosts can be asked for again, if `leftMs` is left; returns whether to plan again. */
  async awaitOthers(leftMs: number): Promise<boolean> {
    const { clock, signal, store } = this.#context.engine
    const { fleet } = this.#options
    // The end of their upload was withheld.
    for (const id of this.#mine) {
      if (fleet.hasClaimed(id) || store.contents.getUploadState(id).state !== 'new') continue
      this.#mine.delete(id)
      this.#unasked.add(id)
    }
    const mayAskAgain = this.#unasked.size > 0 && this.#vainRounds < MAX_VAIN_ROUNDS
    this.#vainRounds += 1
    if (!mayAskAgain && (this.#elsewhere.size === 0 || leftMs <= 0)) return false
    if (!mayAskAgain) await this.giveBack()
    await clock.sleep(mayAskAgain ? fleet.askAgainMs / 10 : Math.min(leftMs, fleet.askAgainMs), signal)
    this.askAgain()
    return true
  }

  get waiting(): number {
    return this.#elsewhere.size + this.#unasked.size
  }

  /** Forgets what other hosts send, so that the next pass asks for it. */
  askAgain(): void {
    this.#unasked.clear()
    this.#elsewhere.clear()
    this.forgetPages()
  }

  /** The plan starts again, and files may have changed since its pages were read. */
  forgetPages(): void {
    this.#pages = []
  }

  /** Gives back claims of contents that this host has not begun to send, so that other hosts may send them. Settles uploads as well. */
  async giveBack(): Promise<void> {
    const { fleet } = this.#options
    const { inFlight } = this.#context.engine
    const kept = [...this.#mine].filter((id) => fleet.hasClaimed(id))
    await fleet.giveBack(kept, (id) => inFlight.has(id))
    for (const id of kept.filter((one) => !fleet.hasClaimed(one))) {
      this.#mine.delete(id)
      this.#givenBack.add(id)
    }
    await fleet.settle()
  }

  async end(): Promise<void> {
    await Promise.all(this.#asking)
    await this.giveBack()
    this.#mine.clear()
  }

  #load(cursor: OpenFileCursor): Page {
    const page: Page = { cursor, files: undefined }
    const { store } = this.#context.engine
    const files = store.files.listOpen(this.#context.mirror.row.id, cursor, this.#size)
    const candidates = this.#answers.listCandidates(files)
    const asking = this.#ask(candidates, this.#options.room)
      .then(
        (free) => {
          page.files = this.#cut(files, free)
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

  /** Cuts the page before the first unclaimed content, so that the next page asks for it again, unless nothing would remain. */
  #cut(files: readonly OpenFile[], free: ReadonlySet<number>): readonly OpenFile[] {
    const end = files.findIndex(({ contentId }) => free.has(contentId))
    this.#size = Math.min(PAGE, end > 0 ? Math.max(FIRST_PAGE, 2 * end) : 2 * this.#size)
    return end > 0 ? files.slice(0, end) : files
  }

  /** Returns the contents that any host may claim. `atMost`: how many unclaimed ones may be claimed; undefined: all. */
  async #ask(candidates: readonly Candidate[], atMost?: () => number): Promise<ReadonlySet<number>> {
    const { fleet } = this.#options
    const wanted = candidates.filter((candidate) => !fleet.hasClaimedAt(candidate.contentId, candidate))
    // The mirror that claimed them may have nothing more to send, so this one gives them back.
    for (const { contentId } of candidates) if (fleet.hasClaimed(contentId)) this.#mine.add(contentId)
    const free = new Set<number>()
    if (wanted.length === 0) return free
    const results = await fleet.claim(this.#answers.library, wanted.map(wantedOf), {
      requiredSearches: this.#options.requiredSearches,
      atMost,
    })
    const { store } = this.#context.engine
    const others = new Map<number, [Candidate, ClaimResult]>()
    wanted.forEach((candidate, index) => {
      const result = results[index]
      if (result?.kind === 'mine') {
        this.#mine.add(candidate.contentId)
        if (!this.#givenBack.has(candidate.contentId)) this.#vainRounds = 0
      } else if (result?.kind === 'free') free.add(candidate.contentId)
      else if (result) others.set(candidate.contentId, [candidate, result])
    })
    if (others.size > 0)
      store.write(() => others.forEach(([candidate, result]) => void this.#record(candidate, result)))
    return free
  }

  #record(candidate: Candidate, result: ClaimResult): void {
    const { contentId } = candidate
    this.#answers.record(candidate, result)
    if (result.kind === 'doubtful') this.#mine.add(contentId)
    else if (result.kind === 'elsewhere') this.#elsewhere.add(contentId)
    else if (result.kind === 'held') {
      this.#held.add(contentId)
      this.#freesAt = result.freesAt
    }
  }
}

function isSame(one: OpenFileCursor, other: OpenFileCursor): boolean {
  return one.directoryId === other.directoryId && one.name === other.name
}
