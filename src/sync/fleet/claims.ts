import type { ClaimResult } from '../../ledger/ledger.ts'
import type { DoubtfulContent } from '../../store/tables/contents.ts'
import type { OpenFile, OpenFileCursor } from '../../store/tables/files.ts'
import type { MirrorContext } from '../engine.ts'
import { type AnswerOptions, type Candidate, LedgerAnswers, PAGE, wantedOf } from './ledger-answers.ts'

/** How many times in a row a run asks for unclaimed contents without a new claim; then they wait for another run. */
const MAX_FRUITLESS_ROUNDS = 10
/** How many files the first page has, and the minimum for later ones. */
const FIRST_PAGE = 64

interface ClaimsOptions extends AnswerOptions {
  /** How often the ledger had required a search before the stage searched the library. */
  readonly requiredSearches: number
  /** Returns how many uploads the limits of this host still allow in this run. */
  readonly room: () => number
  /** Called when a page of files can be read, or when the call to the ledger failed. */
  readonly onReady: () => void
}

interface Page {
  readonly cursor: OpenFileCursor
  /** Undefined while the ledger is asked about their contents. */
  files: readonly OpenFile[] | undefined
}

/** Why a content is not claimed: another host sends it, a limit of all hosts holds it back, or the ledger was not asked yet. */
type Unclaimed = 'elsewhere' | 'held' | 'unasked'

/**
 * Claims the contents of one mirror, one page of files ahead of the plan, and records the ledger's answers in the store. This host does not
 * upload stored and refused contents, and searches for doubtful ones first. `claim_1` in 001-hosts-and-claims.sql decides.
 */
export class Claims {
  readonly #context: Pick<MirrorContext, 'engine' | 'mirror'>
  readonly #options: ClaimsOptions
  readonly #answers: LedgerAnswers
  readonly #elsewhere = new Set<number>()
  readonly #held = new Set<number>()
  readonly #mine = new Set<number>()
  /** Contents whose claims this host gave back without sending them. */
  readonly #givenBack = new Set<number>()
  #freesAt: number | null = null
  /** Open contents without a claim: it was lost, or the content appeared after the ledger was asked about its page. */
  readonly #unasked = new Set<number>()
  /** How many times in a row the plan started again without a new claim. */
  #fruitlessRounds = 0
  #pages: readonly Page[] = []
  #nextPageSize = FIRST_PAGE
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

  get waitsForOthers(): boolean {
    return this.#elsewhere.size > 0
  }

  get freesAt(): number | null {
    return this.#freesAt
  }

  isAsking(cursor: OpenFileCursor): boolean {
    const page = this.#pages.find((other) => isSame(other.cursor, cursor))
    return page !== undefined && page.files === undefined
  }

  /** Returns the open files after `cursor`, and begins to claim the page after them; undefined while the ledger is asked about them. */
  read(cursor: OpenFileCursor): readonly OpenFile[] | undefined {
    const { files } = this.#pageAt(cursor)
    const last = files?.at(-1)
    if (last) this.#pageAt(last)
    return files
  }

  #pageAt(cursor: OpenFileCursor): Page {
    const earlier = this.#pages.find((page) => isSame(page.cursor, cursor))
    if (earlier) return earlier
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

  /** Claims contents in doubt, so that only one host searches for each; returns those that this host has claimed. */
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

  /** Waits, within `remainingMs`, until the ledger can be asked again about unclaimed contents. Returns whether to plan again. */
  async awaitOthers(remainingMs: number): Promise<boolean> {
    const { clock, signal, store } = this.#context.engine
    const { fleet } = this.#options
    // These lost their claim before an upload ended, so the ledger is asked about them again.
    for (const id of this.#mine) {
      if (fleet.hasClaimed(id) || store.contents.getUploadState(id).state !== 'new') continue
      this.#mine.delete(id)
      this.#unasked.add(id)
    }
    const mayAskAgain = this.#unasked.size > 0 && this.#fruitlessRounds < MAX_FRUITLESS_ROUNDS
    this.#fruitlessRounds += 1
    if (!mayAskAgain && (this.#elsewhere.size === 0 || remainingMs <= 0)) return false
    if (!mayAskAgain) await this.giveBack()
    await clock.sleep(mayAskAgain ? fleet.askAgainMs / 10 : Math.min(remainingMs, fleet.askAgainMs), signal)
    this.askAgain()
    return true
  }

  get unclaimedCount(): number {
    return this.#elsewhere.size + this.#unasked.size
  }

  /** Forgets which contents are not claimed, so that the next pass asks the ledger about them. */
  askAgain(): void {
    this.#unasked.clear()
    this.#elsewhere.clear()
    this.forgetPages()
  }

  /** Forgets the pages, because their files may have changed. Call it when the plan starts again. */
  forgetPages(): void {
    this.#pages = []
  }

  /** Gives back claims of contents that this host has not begun to send, so that other hosts may send them; then settles. */
  async giveBack(): Promise<void> {
    const { fleet } = this.#options
    const { inFlight } = this.#context.engine
    const claimed = [...this.#mine].filter((id) => fleet.hasClaimed(id))
    await fleet.giveBack(claimed, (id) => inFlight.has(id))
    for (const id of claimed.filter((one) => !fleet.hasClaimed(one))) {
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
    const files = store.files.listOpen(this.#context.mirror.row.id, cursor, this.#nextPageSize)
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

  /** Returns the files before the first free content, which the next page asks for again; all files if nothing would remain. */
  #cut(files: readonly OpenFile[], free: ReadonlySet<number>): readonly OpenFile[] {
    const end = files.findIndex(({ contentId }) => free.has(contentId))
    this.#nextPageSize = Math.min(PAGE, end > 0 ? Math.max(FIRST_PAGE, 2 * end) : 2 * this.#nextPageSize)
    return end > 0 ? files.slice(0, end) : files
  }

  /** Claims at most `atMost()` candidates (undefined: all), and returns the contents that stay free because that maximum was reached. */
  async #ask(candidates: readonly Candidate[], atMost?: () => number): Promise<ReadonlySet<number>> {
    const { fleet } = this.#options
    const wanted = candidates.filter((candidate) => !fleet.hasClaimedAt(candidate.contentId, candidate))
    // If another mirror of this host claimed these, it may have nothing more to send: then this mirror gives them back.
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
        if (!this.#givenBack.has(candidate.contentId)) this.#fruitlessRounds = 0
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
