import type { Timer } from '../../foundation/clock.ts'
import { Mutex } from '../../foundation/concurrency/mutex.ts'
import { messageOf } from '../../foundation/errors.ts'
import { MINUTE_MS } from '../../foundation/text/times.ts'
import {
  type ClaimResult,
  type EndKind,
  type FollowUp,
  LedgerError,
  type LedgerLibrary,
  MAX_IN_A_CALL,
  type SessionBeat,
  type UploadPlace,
  type WantedContent,
} from '../../ledger/ledger.ts'
import type { Published } from '../../ledger/published.ts'
import { ClosedFenceError, type Fence } from '../../remote/service-client.ts'
import { SilentSessions } from '../../rules/lease.ts'
import { SESSION_KEY } from '../../store/tables/settlements.ts'
import { type FleetContext, type FleetOptions, HostSession, type Session } from './host-session.ts'
import type { LedgerStatus } from './ledger-monitor.ts'
import { SettlementOutbox } from './settlement-outbox.ts'

const UNSETTLED = 'the ledger does not know yet how some uploads ended; shelfd reports it later'

interface OwnContent extends WantedContent {
  readonly contentId: number
}

interface ClaimTerms {
  /** How often the ledger had required a search before the stage searched the library. */
  readonly requiredSearches: number
  /** Returns how many contents this host's limits allow, claimed ones included; undefined: no limits. */
  readonly atMost?: (() => number) | undefined
}

/** A host claims what it sends within this time at its current rate, and no more, because other hosts may send it sooner. */
const AHEAD_MS = 3_000
const MIN_AHEAD = 8
const MAX_AHEAD = 2 * MAX_IN_A_CALL
/** How many contents are claimed ahead before the rate was measured. */
const FIRST_AHEAD = 32
/** The most by which one measurement multiplies the claims ahead, because a rate that was measured over a short time is imprecise. */
const MAX_GROWTH = 4

export function keyOf({ path, remoteDirectory }: UploadPlace): string {
  return `${remoteDirectory}\0${path}`
}

/**
 * This host's part in a fleet: its session, its claims, and the outcomes that it still has to report. A content is claimed before its
 * intent is committed, and the last byte of its upload leaves only while the host holds the lease.
 */
export class Membership implements AsyncDisposable {
  readonly #context: FleetContext
  readonly #options: FleetOptions
  readonly #outbox: SettlementOutbox
  readonly #silent = new SilentSessions()
  readonly #claimed = new Map<number, { readonly session: bigint; readonly places: ReadonlySet<string> }>()
  readonly #session: HostSession
  readonly #publication: Publication
  #settling: Timer | undefined
  /** How many claimed contents may wait to be sent. */
  #ahead = FIRST_AHEAD
  /** How many uploads have ended since `#measuredMs`. */
  #endedCount = 0
  #measuredMs: number
  #settlement: Promise<void> | undefined
  /** Held while claims are made or given back, so that one mirror does not give back what another is claiming. */
  readonly #claimLock = new Mutex()

  constructor(context: FleetContext, options: FleetOptions) {
    this.#context = context
    this.#options = options
    this.#measuredMs = context.clock.monotonicMs()
    this.#outbox = new SettlementOutbox(context, options)
    // Outcomes that could not be settled while the ledger was away are settled at the first renewal after it is back.
    const onRenewed = async () => {
      if (!this.#outbox.isEmpty) await this.settle()
      if (this.#session.current) await this.#publication.publishIfDue(this.#session.current)
    }
    this.#publication = new Publication(context, options.readPublished)
    this.#session = new HostSession(context, options, this.#outbox, {
      onOpened: (session) => this.#outbox.flush(session),
      onRenewed,
    })
  }

  /** Opens the session; returns how often the ledger has required a search. Throws errors `ledger-away` and `host-in-use`. */
  async join(): Promise<number> {
    return await this.#session.call(async () => this.#session.requiredSearches)
  }

  get name(): string {
    return this.#options.name
  }

  get requiredSearches(): number {
    return this.#session.requiredSearches
  }

  get busyHosts(): number {
    return this.#session.busyHosts
  }

  get status(): LedgerStatus {
    return { ...this.#session.status, unsettled: this.#context.store.settlements.count() }
  }

  /** True without a session: the ledger may then lack outcomes of earlier sessions. */
  get hasToJoin(): boolean {
    return this.#session.current === undefined
  }

  /** Returns whether this session has claimed the content and its upload has not ended. */
  hasClaimed(contentId: number): boolean {
    const claim = this.#claimed.get(contentId)
    return claim !== undefined && claim.session === this.#session.current?.session
  }

  /** Returns whether this session may send the content to this place: it has claimed it there, and the content is not in doubt. */
  hasClaimedAt(contentId: number, place: UploadPlace): boolean {
    return this.hasClaimed(contentId) && this.#claimed.get(contentId)?.places.has(keyOf(place)) === true
  }

  get askAgainMs(): number {
    return this.#session.beatMs
  }

  /**
   * Claims contents of a library; results are in the order of `wanted`. Outcomes that change the answers are settled first. Throws
   * LedgerRestoredError if the ledger has required another search since `requiredSearches` was read.
   */
  async claim(
    library: LedgerLibrary,
    wanted: readonly OwnContent[],
    { requiredSearches, atMost }: ClaimTerms,
  ): Promise<ClaimResult[]> {
    const results: ClaimResult[] = []
    for (let start = 0; start < wanted.length; start += MAX_IN_A_CALL) {
      const part = wanted.slice(start, start + MAX_IN_A_CALL)
      results.push(...(await this.#claimPart(library, part, { requiredSearches, atMost })))
    }
    // The claims hold even if silent sessions cannot be closed.
    await this.#closeSilent(results)
    return results
  }

  /** Returns what `claim` would return, without a session or a claim. Throws TemporaryError `ledger-away`. */
  async peek(library: LedgerLibrary, wanted: readonly OwnContent[]): Promise<ClaimResult[]> {
    const ledger = await this.#session.connect()
    const results: ClaimResult[] = []
    for (let start = 0; start < wanted.length; start += MAX_IN_A_CALL) {
      const part = wanted.slice(start, start + MAX_IN_A_CALL)
      results.push(...(await ledger.peek(library, part, this.#options.limits)))
    }
    return results
  }

  /** Returns which resources of other hosts are final, and who polls the others; undefined while the ledger is away. Pass at most 500. */
  async takeFollowUps(
    library: LedgerLibrary,
    resourceIds: readonly string[],
  ): Promise<ReadonlyMap<string, FollowUp> | undefined> {
    const { current } = this.#session
    if (!current) return undefined
    try {
      const answers = await current.ledger.takeFollowUps(current.session, library, resourceIds)
      await this.#closeSilent([...answers.values()])
      return answers
    } catch (error) {
      if (error instanceof LedgerError) this.#session.drop(current)
      this.#context.logger.debug('the ledger does not say what became of resources of other hosts', {
        reason: messageOf(error),
      })
      return undefined
    }
  }

  /** Returns how many more contents this host may claim by its limits and its upload rate; the rate allows at least half of `#ahead`. */
  #countClaimable(atMost: () => number): number {
    const nowMs = this.#context.clock.monotonicMs()
    if (this.#endedCount > 0 && nowMs > this.#measuredMs) {
      const byRate = Math.round((this.#endedCount * AHEAD_MS) / (nowMs - this.#measuredMs))
      this.#ahead = Math.max(MIN_AHEAD, Math.min(byRate, MAX_GROWTH * this.#ahead, MAX_AHEAD))
      this.#endedCount = 0
      this.#measuredMs = nowMs
    }
    const unsent = this.#countUnsent()
    return Math.max(0, Math.min(atMost() - unsent, Math.max(Math.ceil(this.#ahead / 2), this.#ahead - unsent)))
  }

  #countUnsent(): number {
    const sending = new Set(this.#context.store.contents.listSending())
    return [...this.#claimed.keys()].filter((id) => this.hasClaimed(id) && !sending.has(id)).length
  }

  /** Returns the fence of an upload: its last byte leaves only while this host holds the lease. */
  fence(contentId: number): Fence {
    const session = this.#claimed.get(contentId)?.session
    return {
      isOpen: () => this.#session.holdsLease(session),
      waitUntilOpen: async () => {
        if (!(await this.#session.confirmLease(session))) throw new ClosedFenceError()
      },
    }
  }

  /** Forgets the claim of a content whose upload the fence stopped, so that it is claimed again before it is sent. */
  forgetClaim(contentId: number): void {
    this.#claimed.delete(contentId)
  }

  /** Records how an upload ended, in the transaction of its receipt. A content that was not sent stays claimed. */
  recordEnd(contentId: number, kind: EndKind): void {
    if (kind === 'not-sent') return
    this.#endedCount += Number(isOfUpload(kind))
    const { keyValues, settlements } = this.#context.store
    const session = this.#claimed.get(contentId)?.session ?? keyValues.get(SESSION_KEY)
    if (session === undefined) return
    settlements.add(BigInt(session), contentId, kind)
    if (kind !== 'absent' && kind !== 'doubt') this.#claimed.delete(contentId)
  }

  /** Lets other hosts send these contents, except those for which `isNeeded` returns true. */
  async giveBack(contentIds: Iterable<number>, isNeeded: (contentId: number) => boolean = () => false): Promise<void> {
    using _lock = await this.#claimLock.lock()
    const { store } = this.#context
    const claims = [...contentIds].flatMap((id) => {
      if (isNeeded(id)) return []
      const session = this.#claimed.get(id)?.session
      const { state } = store.contents.getUploadState(id)
      // A content in doubt or in flight stays claimed: no other host may send it before a search.
      return session === undefined || state === 'doubt' || state === 'sending' ? [] : [{ id, session }]
    })
    if (claims.length === 0) return
    store.write(() => claims.forEach(({ id, session }) => void store.settlements.add(session, id, 'not-sent')))
    for (const { id } of claims) this.#claimed.delete(id)
  }

  /** Reports outcomes to the ledger. If that fails, they stay in the store for a later call. */
  async settle(): Promise<void> {
    this.#settlement ??= this.#settleAll().finally(() => {
      this.#settlement = undefined
    })
    await this.#settlement
  }

  async #settleAll(): Promise<void> {
    const { current } = this.#session
    if (!current) return
    try {
      await this.#outbox.flush(current)
    } catch (error) {
      if (error instanceof LedgerError) this.#session.drop(current)
      this.#context.logger.warn(UNSETTLED, { reason: messageOf(error) })
    }
  }

  /** Settles a moment later, together with outcomes that are recorded until then. */
  settleSoon(): void {
    this.#settling ??= this.#context.clock.startTimer(this.askAgainMs / 10, () => {
      this.#settling = undefined
      void this.settle()
    })
  }

  /** Gives back claims, settles, and closes the session, so that other hosts need not wait for the end of its lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#settling?.[Symbol.dispose]()
    await this.#session.close(async () => {
      await this.giveBack(this.#claimed.keys())
      await this.settle()
      if (this.#session.current) await this.#publication.publish(this.#session.current)
    })
  }

  async #claimPart(
    library: LedgerLibrary,
    wanted: readonly OwnContent[],
    { requiredSearches, atMost }: ClaimTerms,
  ): Promise<ClaimResult[]> {
    return await this.#session.call(async (opened) => {
      using _lock = await this.#claimLock.lock()
      const { ledger, session } = opened
      if (this.#session.current?.session !== session)
        throw new LedgerError('session-over', 'the session ended while others claimed')
      // An outcome that is settled later would end the new claim.
      while (this.#outbox.mustFlushBeforeClaims) {
        this.#context.signal.throwIfAborted()
        await this.#outbox.flush(opened)
      }
      const limits = { ...this.#options.limits, atMost: atMost && this.#countClaimable(atMost) }
      const results = await ledger.claim(session, library, wanted, limits)
      wanted.forEach(({ contentId, place }, index) => {
        const kind = results[index]?.kind
        if (kind !== 'mine' && kind !== 'doubtful') return
        const claimed = this.hasClaimed(contentId) ? this.#claimed.get(contentId)?.places : undefined
        // A content that may have arrived is not sent anywhere: it is claimed again after a search did not find it.
        const places = kind === 'doubtful' ? new Set<string>() : new Set(claimed).add(keyOf(place))
        this.#claimed.set(contentId, { session, places })
      })
      if (!this.#outbox.isEmpty) this.settleSoon()
      return results
    }, requiredSearches)
  }

  async #closeSilent(
    answers: readonly { readonly kind: string; readonly owner?: SessionBeat | undefined }[],
  ): Promise<void> {
    const { clock, logger } = this.#context
    const { current } = this.#session
    const owners = new Map(answers.flatMap(({ owner }) => (owner ? [[owner.session, owner.beat] as const] : [])))
    for (const [session, beat] of current ? owners : []) {
      if (!current || !this.#silent.note(session, beat, clock.monotonicMs(), current.leaseMs)) continue
      try {
        if (await current.ledger.closeSilent({ session, beat }))
          logger.warn('closed the session of a host that is silent', { session: String(session) })
        this.#silent.forget(session)
      } catch (error) {
        logger.warn('could not close the session of a silent host', { reason: messageOf(error) })
      }
    }
  }
}

function isOfUpload(kind: EndKind): boolean {
  return kind === 'created' || kind === 'duplicate' || kind === 'refused'
}

/** Publishes changes of this host's mirrors for other hosts, once a minute at most. Never throws, because no work depends on it. */
export class Publication {
  readonly #context: Pick<FleetContext, 'clock' | 'logger'>
  readonly #read: (() => Promise<Published>) | undefined
  /** The session in which something was published, and the texts that were published. */
  #last: { readonly session: bigint; readonly parts: Readonly<Record<keyof Published, string>> } | undefined
  #lastMs = Number.NEGATIVE_INFINITY
  #running: Promise<void> | undefined

  /** `read` returns what to publish; undefined: nothing is published. */
  constructor(context: Pick<FleetContext, 'clock' | 'logger'>, read: (() => Promise<Published>) | undefined) {
    this.#context = context
    this.#read = read
  }

  /** Publishes what changed, unless the last publication was less than a minute ago. */
  async publishIfDue(session: Session): Promise<void> {
    if (this.#context.clock.monotonicMs() - this.#lastMs >= MINUTE_MS) await this.publish(session)
  }

  async publish(session: Session): Promise<void> {
    this.#lastMs = this.#context.clock.monotonicMs()
    await this.#running
    this.#running = this.#publish(session).catch((error: unknown) => {
      this.#context.logger.warn('cannot publish the state of the mirrors for the other hosts', {
        reason: messageOf(error),
      })
    })
    await this.#running
  }

  async #publish({ ledger, session }: Session): Promise<void> {
    const published = await this.#read?.()
    if (!published) return
    const { sentInDay, mirrors, problems, runs } = published
    const parts = {
      sentInDay: String(sentInDay),
      mirrors: JSON.stringify(mirrors),
      problems: JSON.stringify(problems),
      runs: JSON.stringify(runs),
    }
    // A new session may be at another ledger, to which nothing was published.
    const last = this.#last?.session === session ? this.#last.parts : undefined
    const isPublished = (part: keyof Published) => last?.[part] === parts[part]
    if (isPublished('sentInDay') && isPublished('mirrors') && isPublished('problems') && isPublished('runs')) return
    await ledger.publish(session, {
      sentInDay,
      mirrors,
      problems: isPublished('problems') ? undefined : problems,
      runs: isPublished('runs') ? undefined : runs,
    })
    this.#last = { session, parts }
  }
}
