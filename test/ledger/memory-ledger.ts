import type { Clock } from '../../src/foundation/clock.ts'
import {
  type ClaimResult,
  type DisputedOutcome,
  type FollowUp,
  type HostIdentity,
  type HostOrder,
  type Ledger,
  LedgerError,
  type LedgerLibrary,
  type OpenedSession,
  type Refusal,
  type SessionBeat,
  type UploadEnd,
  type UploadPlace,
  type WantedContent,
} from '../../src/ledger/ledger.ts'
import { boundText } from '../../src/ledger/postgres/call-encoding.ts'
import { DayLimit, ServiceWaits } from './day-limit.ts'
import { Journal } from './journal.ts'
import { MemoryPublished } from './memory-published.ts'
import {
  away,
  type Claim,
  claimAfter,
  contentKey,
  countBusyOthers,
  distinctPlaces,
  type ExtraSend,
  followUpOf,
  type Host,
  isKnown,
  isStoring,
  type Losses,
  libraryKey,
  type MergedContent,
  mergeTwins,
  type Pauses,
  publicOf,
  type Session,
  type Stored,
  sessionBefore,
  settlerOf,
} from './memory-rows.ts'

/** A ledger in memory, by the contract: many hosts connect to it, and the last commits can be lost as in a failover. */
export class MemoryLedger {
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #agreesToClose: boolean
  readonly #journal = new Journal()
  readonly #hosts = this.#journal.table<Host>()
  readonly published = new MemoryPublished(this.#journal, this.#hosts)
  readonly #sessions = this.#journal.table<Session>()
  readonly #contents = this.#journal.table<Stored>()
  readonly #claims = this.#journal.table<Claim>()
  readonly #refusals = this.#journal.table<Refusal & { readonly host: string }>()
  readonly #limit: DayLimit
  readonly #waits: ServiceWaits
  readonly #extraSends = this.#journal.table<ExtraSend>()
  /** For judges, who read them by `byContent`. */
  readonly tables = { claims: this.#claims, contents: this.#contents, extraSends: this.#extraSends }
  /** Numbers are never given out again, also after commits were lost. */
  #last = 0
  #timeline = 1

  /** `agreesToClose`: by its clock, too, a session must have been silent that another host closes. */
  constructor(clock: Clock, leaseMs = 60_000, { agreesToClose = true } = {}) {
    this.#clock = clock
    this.#agreesToClose = agreesToClose
    this.#limit = new DayLimit(clock, this.#journal)
    this.#waits = new ServiceWaits(clock, this.#journal)
    this.#leaseMs = leaseMs
  }

  /** How many commits could be lost. */
  get commits(): number {
    return this.#journal.size
  }

  /** Loses the newest commits, as a failover to a standby that lacks them does; one that is silent keeps its timeline. */
  loseCommits(count: number, { isSilent = false } = {}): void {
    this.#journal.undo(count)
    if (isSilent) return
    this.#timeline += 1
  }

  /** Crashes, and is back at once: what it acknowledged is there. */
  crash(): void {
    this.#journal.crash()
  }

  /** A client of this ledger, as one host has it. */
  connect(losses: Losses = () => undefined, { onLooked, onAnswer }: Pauses = {}): Ledger {
    let taken = 0
    const call = async <T, L>(name: string, work: (seen?: L) => T, look?: () => L): Promise<T> => {
      const loss = await losses(name)
      if (loss === 'call') throw away()
      const [timeline, seen] = [this.#timeline, look?.()]
      if (look) await onLooked?.()
      if (timeline !== this.#timeline) throw away()
      const end = (async () => this.#journal.commit(() => work(seen)))()
      end.catch(() => {})
      await onAnswer?.(name)
      if (loss === 'answer') throw away()
      return await end
    }
    return {
      open: async (host, previous) => {
        const opened = await call('open', () => this.#open(host, previous))
        taken = 0
        return opened
      },
      renew: async (session, use) => {
        const { orders, ...renewal } = await call('renew', () => ({
          waitMs: this.#waits.share(use),
          ...this.#renew(session, taken, use),
        }))
        taken = orders.at(-1)?.id ?? taken
        return { ...renewal, orders: orders.map(({ kind, mirror }) => ({ kind, mirror })) }
      },
      claim: (session, library, contents, { newPerDay, atMost }) => {
        const look = () => contents.map((content) => this.#known(library, content))
        const claim = (seen: readonly (ClaimResult | undefined)[] = []) => {
          const host = this.#checkSession(session)
          const room = { newPerDay, atMost: atMost ?? Number.POSITIVE_INFINITY }
          const claimOne = (content: MergedContent) => this.#claim(session, host, library, content, room)
          return mergeTwins(contents).map((content, nth) => seen[nth] ?? claimOne(content))
        }
        return call('claim', claim, look)
      },
      peek: (library, contents, { newPerDay }) =>
        call('peek', () => {
          let room = newPerDay === null ? undefined : this.#limit.room(library, newPerDay)
          const seen = new Map<string, ClaimResult>()
          return contents.map((content) => {
            const key = contentKey(library, content)
            const result =
              seen.get(key) ??
              this.#known(library, content) ??
              this.#peekClaim(key) ??
              this.#limit.hold(library, newPerDay, room)
            if (result.kind === 'mine' && room !== undefined && !seen.has(key)) room -= 1
            seen.set(key, result)
            return result
          })
        }),
      settle: (session, batch, ends) => call('settle', () => this.#settle(session, batch, ends)),
      close: (session) =>
        call('close', () => {
          const found = this.#sessions.get(String(session))
          if (found) this.#sessions.set(String(session), { ...found, isClosed: true })
        }),
      closeSilent: (owner) => call('closeSilent', () => this.#closeSilent(owner)),
      takeFollowUps: (session, library, resourceIds) =>
        call('takeFollowUps', () => {
          this.#checkSession(session)
          const asked = this.#contentsOf(library).filter(([, { resourceId }]) => resourceIds.includes(resourceId))
          return new Map(asked.map(([key, stored]) => [stored.resourceId, this.#takeFollowUp(session, key, stored)]))
        }),
      publish: (session, told) => call('publish', () => this.published.publish(this.#checkSession(session), told)),
      [Symbol.asyncDispose]: async () => {},
    }
  }

  giveOrder(hostId: number, order: HostOrder): boolean {
    return this.published.giveOrder(hostId, order, this.#number())
  }

  countExtraSends(library: LedgerLibrary): number {
    return [...this.#extraSends.entries()].filter(([, extra]) => extra.library === libraryKey(library)).length
  }

  #open(identity: HostIdentity, previous: bigint | null): OpenedSession {
    const { key, name, version, place } = identity
    const host = this.#hosts.get(key) ?? { id: this.#number(), session: null, settled: 0n, name, version }
    const own = host.session === null ? undefined : this.#sessions.get(String(host.session))
    const last = sessionBefore(identity, previous, { host, own, timeline: this.#timeline })
    if (own) this.#sessions.set(String(host.session), { ...own, isClosed: true })
    const session = BigInt(this.#number())
    const seenMs = this.#clock.nowMs()
    const next = { host: key, previous: last, timeline: this.#timeline, beat: 0n, isClosed: false, seenMs }
    this.#sessions.set(String(session), next)
    this.#hosts.set(key, { ...host, name, version, session, place: place ?? host.place })
    const at = { generation: 'memory', timeline: this.#timeline, hasMoved: this.#timeline > 1 }
    return { session, hostId: host.id, settled: host.settled, ...at, leaseMs: this.#leaseMs }
  }

  #renew(session: bigint, taken: number, use: Parameters<Ledger['renew']>[1]) {
    const found = this.#openSession(session)
    if (!found) return { isOpen: false, orders: [], busyOthers: 0 }
    const seenMs = this.#clock.nowMs()
    const busyWith = use?.isBusy ? use.origin : undefined
    this.#sessions.set(String(session), { ...found, beat: found.beat + 1n, seenMs, busyWith })
    const busyOthers = countBusyOthers(this.#sessions, session, use?.origin, seenMs - 2 * this.#leaseMs)
    return { isOpen: true, orders: this.published.takeOrders(found.host, taken), busyOthers }
  }

  #closeSilent({ session, beat }: SessionBeat): boolean {
    const found = this.#sessions.get(String(publicOf(session)))
    const isSeen = this.#agreesToClose && (found?.seenMs ?? 0) >= this.#clock.nowMs() - 2 * this.#leaseMs
    if (!found || found.isClosed || found.beat !== beat || isSeen) return false
    this.#sessions.set(String(publicOf(session)), { ...found, isClosed: true })
    return true
  }

  #openSession(session: bigint): Session | undefined {
    const found = this.#sessions.get(String(session))
    return found && !found.isClosed && found.timeline === this.#timeline ? found : undefined
  }

  #checkSession(session: bigint): string {
    const found = this.#openSession(session)
    if (!found) throw new LedgerError('session-over', 'the session is over')
    if (found.beat === 0n) this.#sessions.set(String(session), { ...found, beat: 1n })
    return found.host
  }

  /** Stored or refused. */
  #known(library: LedgerLibrary, content: WantedContent): ClaimResult | undefined {
    const key = contentKey(library, content)
    const stored = this.#contents.get(key)
    if (stored) {
      return { kind: 'stored', resourceId: stored.resourceId, outcome: stored.outcome, host: this.#nameOf(stored.host) }
    }
    const found = this.#refusals.get(key)
    if (!found) return undefined
    const { host, ...refusal } = found
    const isOver = !refusal.isSetAside && refusal.retryAt !== null && refusal.retryAt <= this.#clock.nowMs()
    return isOver ? undefined : { kind: 'refused', ...refusal, host: this.#nameOf(host) }
  }

  #peekClaim(key: string): ClaimResult | undefined {
    const claim = this.#claims.get(key)
    if (!claim) return undefined
    const owner = this.#sessions.get(String(claim.session))
    const host = this.#nameOf(claim.host)
    if (!owner || owner.isClosed) return { kind: 'doubtful', places: claim.places, host }
    return { kind: 'elsewhere', host, owner: { session: publicOf(claim.session), beat: owner.beat } }
  }

  #claim(
    session: bigint,
    host: string,
    library: LedgerLibrary,
    content: MergedContent,
    room: { readonly newPerDay: number | null; atMost: number },
  ): ClaimResult {
    const { newPerDay } = room
    const key = contentKey(library, content)
    // Somebody may have settled it since the first look.
    const known = this.#known(library, content)
    if (known) return known
    const claim = this.#claims.get(key)
    if (claim) return this.#claimAgain(session, host, key, claim, content.places)
    const answer = this.#limit.hold(
      library,
      newPerDay,
      newPerDay === null ? undefined : this.#limit.room(library, newPerDay),
    )
    if (answer.kind === 'held') return answer
    if (room.atMost <= 0) return { kind: 'free' }
    room.atMost -= 1
    const slot = this.#limit.spend(library)
    const places = content.places
    this.#claims.set(key, { session, host, isDoubtful: false, doubts: 0, takenFrom: undefined, slot, places })
    return answer
  }

  #claimAgain(session: bigint, host: string, key: string, claim: Claim, places: readonly UploadPlace[]): ClaimResult {
    const isOwn = claim.session === session
    const inUse = this.#peekClaim(key)
    if (!isOwn && inUse?.kind === 'elsewhere') return inUse
    const takenFrom = isOwn ? claim.takenFrom : claim.host
    const next = {
      ...claim,
      session,
      host,
      takenFrom,
      isDoubtful: claim.isDoubtful || !isOwn,
      doubts: claim.doubts + Number(!isOwn),
      places: distinctPlaces([...claim.places, ...places]),
    }
    this.#claims.set(key, next)
    if (!next.isDoubtful) return { kind: 'mine' }
    return { kind: 'doubtful', places: next.places, host: this.#nameOf(takenFrom ?? host) }
  }

  #settle(session: bigint, batch: bigint, ends: readonly UploadEnd[]): DisputedOutcome[] {
    const [key, host] = settlerOf(this.#sessions.get(String(session)), this.#hosts, batch)
    if (host.settled >= batch) return []
    this.#hosts.set(key, { ...host, settled: batch })
    return ends.flatMap((end, index) => {
      const odd = this.#settleOne(key, end)
      return odd.isLate || odd.resourceId !== undefined ? [{ index, ...odd }] : []
    })
  }

  #settleOne(host: string, end: UploadEnd): Omit<DisputedOutcome, 'index'> {
    const key = contentKey(end.library, end)
    if (end.kind === 'retry' || end.kind === 'ignored') {
      this.#refusals.delete(key)
      if (end.kind === 'ignored' && end.refusal) this.#refuse(key, end.refusal, host)
      return { isLate: false, resourceId: undefined }
    }
    const claim = this.#claims.get(key)
    const stored = this.#contents.get(key)
    const { outcome = 'pending' } = end
    if (stored?.resourceId === end.resourceId && stored && outcome !== 'pending')
      this.#contents.set(key, { ...stored, outcome })
    if (end.kind === 'outcome') return { isLate: false, resourceId: undefined }
    const own = claim?.session === end.session && claim.host === host ? claim : undefined
    if (own) this.#endClaim(key, own, end.kind)
    const isRepeated = isKnown(this.#extraSends, key, { ...end, host, stored, own })
    const isLate = !own && !isRepeated && (claim !== undefined || stored !== undefined)
    if (end.kind === 'refused' && end.refusal) this.#refuse(key, end.refusal, host)
    if (!isStoring(end)) return { isLate, resourceId: undefined }
    this.#claims.delete(key)
    this.#refusals.delete(key)
    const { resourceId } = end
    if (!stored) this.#contents.set(key, { library: libraryKey(end.library), resourceId, outcome, host })
    const other = isRepeated || stored?.resourceId === resourceId ? undefined : stored?.resourceId
    const isSecond = end.kind === 'duplicate' && (isLate || (own?.doubts ?? 0) > 0)
    if (other !== undefined || isSecond) {
      this.#extraSends.set(`${this.#number()} ${key}`, { library: libraryKey(end.library), resourceId, host })
    }
    return { isLate, resourceId: other }
  }

  #refuse(key: string, refusal: Refusal, host: string): void {
    this.#refusals.set(key, { ...refusal, message: boundText(refusal.message), host })
  }

  #endClaim(key: string, claim: Claim, kind: UploadEnd['kind']): void {
    const left = claimAfter(claim, kind)
    if (left) this.#claims.set(key, left)
    else this.#claims.delete(key)
    if (!left && kind === 'not-sent' && claim.slot !== undefined) this.#limit.giveBack(claim.slot)
  }

  #takeFollowUp(session: bigint, key: string, stored: Stored): FollowUp {
    const follower = stored.followedBy ?? this.#hosts.get(stored.host)?.session ?? 0n
    const answer = followUpOf(stored, session, follower, this.#sessions.get(String(follower)))
    if (answer.kind === 'mine' && follower !== session) this.#contents.set(key, { ...stored, followedBy: session })
    return answer
  }

  #contentsOf(library: LedgerLibrary): [string, Stored][] {
    return [...this.#contents.entries()].filter(([, content]) => content.library === libraryKey(library))
  }

  #nameOf(host: string): string {
    return this.#hosts.get(host)?.name ?? ''
  }

  #number(): number {
    this.#last += 1
    return this.#last
  }
}
