import { randomUUID } from 'node:crypto'
import type { Clock, Random, Timer } from '../../foundation/clock.ts'
import { InterruptedError, OperatorError, TemporaryError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import {
  type FleetLimits,
  type HostOrder,
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
  type OpenedSession,
} from '../../ledger/ledger.ts'
import type { LedgerCall } from '../../ledger/observe-ledger.ts'
import type { Published } from '../../ledger/published.ts'
import type { RetryAfter } from '../../remote/retry-after.ts'
import { graceMs, leaseLeftMs, type UpTime } from '../../rules/lease.ts'
import { describeLedgerGap, findLedgerGap, type LedgerGap } from '../../rules/ledger-gap.ts'
import { type RetryPolicy, retryDelayMs } from '../../rules/retry-delay.ts'
import { COPIED_KEY, SESSION_KEY } from '../../store/tables/settlements.ts'
import { LedgerMonitor, type LedgerStatus } from './ledger-monitor.ts'
import { ACKNOWLEDGED, type FleetStore, LEDGER, type SettlementOutbox } from './settlement-outbox.ts'

const RENEWALS_A_LEASE = 3

const MAX_REFUSALS = 5

export const HOST_KEY = 'fleet:host'

const COPIED =
  'the state was copied or restored, or the owner or mode of its file was changed: shelfd waits two leases, after which no host with another copy can still be sending'

export interface FleetOptions {
  readonly connect: (observe: (call: LedgerCall) => void) => Promise<Ledger>
  readonly name: string
  readonly version: string
  /** Distinguishes the state of this host from a copy of it; undefined where the system has no such identifier. */
  readonly place?: string | undefined
  readonly limits: FleetLimits
  /** False: this host does not share messages, because they may name files. */
  readonly namesPaths?: boolean
  readonly service?: SharedService | undefined
  /** Milliseconds since the system started, time asleep included. */
  readonly bootMs: () => number
  readonly retry: RetryPolicy
  /** Reads what this host publishes; undefined: it publishes nothing. */
  readonly readPublished?: () => Promise<Published>
  readonly onOrder?: (order: HostOrder) => void
}

interface SharedService {
  readonly origin: string
  readonly retryAfter: RetryAfter
  /** `ingestion` and `inFlight` say whether this host is busy: only busy hosts share the limits. */
  readonly ingestion: { countPending(): number; announce(): void }
  readonly inFlight: { readonly size: number }
}

export interface FleetContext {
  readonly store: FleetStore
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly signal: AbortSignal
}

export interface Session extends OpenedSession {
  readonly ledger: Ledger
  /** A moment before the call that opened or renewed the session. */
  readonly since: UpTime
}

/** Thrown if the ledger may have lost commits since the library was searched: the library must be searched again before the next call. */
class LedgerRestoredError extends TemporaryError {
  constructor() {
    super('ledger-away', 'The ledger may have lost its last commits; the next run looks in the library before it sends')
  }
}

interface SessionHooks {
  /** Sends the ledger the outcomes that it lacks, before any claim and before the wait in `#openSession`. */
  onOpened(session: Session): Promise<void>
  onRenewed(): Promise<void>
}

export class HostSession {
  readonly #context: FleetContext
  readonly #options: FleetOptions
  readonly #outbox: SettlementOutbox
  readonly #hooks: SessionHooks
  readonly #monitor: LedgerMonitor
  #session: Session | undefined
  #connecting: Promise<Ledger> | undefined
  #opening: Promise<Session> | undefined
  #timer: Timer | undefined
  #reporting: Promise<boolean> | undefined
  readonly #closing = new AbortController()
  #requiredSearches = 0
  #busyHosts = 1

  constructor(context: FleetContext, options: FleetOptions, outbox: SettlementOutbox, hooks: SessionHooks) {
    this.#context = context
    this.#options = options
    this.#outbox = outbox
    this.#hooks = hooks
    this.#monitor = new LedgerMonitor(context)
    if (options.service) options.service.retryAfter.onOwn = () => this.#reportWait()
  }

  get current(): Session | undefined {
    return this.#session
  }

  /** How often opening a session has required a new search of the library. */
  get requiredSearches(): number {
    return this.#requiredSearches
  }

  /** How many hosts share the limits of the service now, this one included. */
  get busyHosts(): number {
    return this.#busyHosts
  }

  /** The time from one beat to the next; 0 without a session. */
  get beatMs(): number {
    return (this.#session?.leaseMs ?? 0) / RENEWALS_A_LEASE
  }

  get status(): Omit<LedgerStatus, 'unsettled'> {
    const current = this.#session
    const leftMs = current ? leaseLeftMs(current.since, current.leaseMs, this.#now()) : 0
    return { ...this.#monitor.connection, leaseLeftMs: Math.max(0, Math.round(leftMs)) }
  }

  async connect(): Promise<Ledger> {
    this.#connecting ??= this.#options.connect((call) => this.#monitor.note(call))
    return await this.#connecting.catch((error: unknown) => {
      this.#connecting = undefined
      throw error
    })
  }

  /** Renews the session; returns false if it is over, or if no renewal succeeds within the grace period. */
  async confirmLease(session: bigint | undefined): Promise<boolean> {
    const { clock, signal } = this.#context
    const sinceMs = clock.monotonicMs()
    while (session !== undefined && session === this.#session?.session) {
      const { leaseMs } = this.#session
      if ((await this.#renew().catch(() => false)) && this.holdsLease(session)) return true
      if (clock.monotonicMs() - sinceMs > graceMs(leaseMs)) break
      await clock.sleep(this.beatMs / 10, signal)
    }
    return this.holdsLease(session)
  }

  /** If a session is open, calls `last` and closes it. Then closes the connection. */
  async close(last: () => Promise<void>): Promise<void> {
    this.#closing.abort(new InterruptedError('the session at the ledger was closed'))
    this.#timer?.[Symbol.dispose]()
    await this.#opening?.catch(() => {})
    await using ledger = await this.#connecting?.catch(() => undefined)
    const session = this.#session
    if (!ledger || !session) return
    await last()
    // If the session cannot be closed, other hosts close it once it is silent.
    await ledger.close(session.session).catch(() => {})
  }

  /**
   * Runs a call within a session, and retries while the ledger is away. Throws LedgerRestoredError if the ledger has required another
   * search since `requiredSearches` was read.
   */
  async call<T>(work: (session: Session) => Promise<T>, requiredSearches?: number): Promise<T> {
    const { clock, random, signal } = this.#context
    const { retry } = this.#options
    const startedMs = clock.monotonicMs()
    let refusals = 0
    for (let attempt = 1; ; attempt += 1) {
      this.#closing.signal.throwIfAborted()
      let session: Session | undefined
      try {
        session = await this.#open()
        if (requiredSearches !== undefined && requiredSearches !== this.#requiredSearches)
          throw new LedgerRestoredError()
        return await work(session)
      } catch (error) {
        if (error instanceof LedgerError && error.code !== 'host-in-use') {
          if (session) this.drop(session)
          refusals += 1
          if (refusals < MAX_REFUSALS) continue
          throw new TemporaryError('ledger-away', `The ledger refuses this host again and again: ${error.message}`, {
            cause: error,
          })
        }
        const isAway =
          error instanceof TemporaryError && error.code === 'ledger-away' && !(error instanceof LedgerRestoredError)
        const delayMs = retryDelayMs(attempt, retry, random())
        if (!isAway || clock.monotonicMs() + delayMs - startedMs > (retry.forMs ?? 0)) throw error
        await clock.sleep(delayMs, signal)
      }
    }
  }

  async #open(): Promise<Session> {
    if (this.#session) return this.#session
    this.#opening ??= this.#openSession().finally(() => {
      this.#opening = undefined
    })
    return await this.#opening
  }

  async #openSession(): Promise<Session> {
    const { store, clock, signal } = this.#context
    const { name, version, place } = this.#options
    const ledger = await this.connect()
    const key = store.keyValues.get(HOST_KEY) ?? this.#setKey(HOST_KEY, randomUUID())
    const previous = store.keyValues.get(SESSION_KEY)
    const isCopied = store.keyValues.get(COPIED_KEY) !== undefined
    const since = this.#now()
    const opened = await ledger
      .open({ key, name, version, place, isRestored: isCopied }, previous === undefined ? null : BigInt(previous))
      .catch(asOperatorError)
    this.#setKey(SESSION_KEY, String(opened.session))
    const joinedLedger = store.keyValues.get(LEDGER)
    const acknowledged = BigInt(store.keyValues.get(ACKNOWLEDGED) ?? 0)
    const isUnknown = joinedLedger?.split('/', 1)[0] !== opened.generation
    const hasLostBatches = this.#outbox.reconcile(opened, { acknowledged, isUnknown })
    const gap = findLedgerGap(joinedLedger, hasLostBatches, opened)
    const session = { ...opened, ledger, since }
    const mustWait = gap !== undefined || isCopied
    const recordLedger = () => this.#setKey(LEDGER, `${opened.generation}/${opened.timeline}`)
    if (gap) this.#requireSearches(gap)
    else if (isCopied) this.#context.logger.warn(COPIED)
    else recordLedger()
    await this.#hooks.onOpened(session)
    if (mustWait) {
      // Hosts whose sessions the ledger lost may still be sending; if this state is a copy, so may the host with the original.
      await clock.sleep(opened.leaseMs + graceMs(opened.leaseMs), AbortSignal.any([signal, this.#closing.signal]))
      // A search that was made while those hosts could send does not count.
      store.write(() => {
        store.foreign.requireSearches()
        store.keyValues.remove(COPIED_KEY)
      })
      this.#requiredSearches += 1
      recordLedger()
    }
    this.#session = session
    this.#scheduleRenewal(opened.leaseMs)
    // Learns before the first request how long the service asked other hosts to wait.
    if (this.#options.service) await this.#renew(true).catch(() => false)
    return this.#session ?? session
  }

  /** Requires a search of the libraries before uploads, because the ledger may have lost acknowledged commits. */
  #requireSearches(gap: LedgerGap): void {
    const { store, logger } = this.#context
    logger.warn(describeLedgerGap(gap))
    store.write(() => store.foreign.requireSearches())
  }

  #scheduleRenewal(leaseMs: number): void {
    if (this.#closing.signal.aborted) return
    this.#timer?.[Symbol.dispose]()
    this.#timer = this.#context.clock.startTimer(leaseMs / RENEWALS_A_LEASE, () => void this.#keepOpen(leaseMs))
  }

  /** Renews the session or opens another one, so that an idle host also reports outcomes and receives orders. */
  async #keepOpen(leaseMs: number): Promise<void> {
    try {
      if (!(await this.#renew()) && !this.#closing.signal.aborted) await this.#open()
      // Not awaited, because settling many outcomes may take longer than a lease.
      void this.#hooks.onRenewed().catch(() => {})
    } catch (error) {
      // The next run fails with the same error.
      if (error instanceof OperatorError) {
        this.#context.logger.warn('this host has left the ledger', { reason: error.message })
        return
      }
    }
    // The session may be another one by now, with another lease.
    this.#scheduleRenewal(this.#session?.leaseMs ?? leaseMs)
  }

  /** Renews the session early, so that other hosts learn at their next renewal that the service asked to wait. */
  #reportWait(): void {
    this.#reporting ??= this.#renew()
      .catch(() => false)
      .finally(() => {
        this.#reporting = undefined
      })
  }

  async #renew(isNew = false): Promise<boolean> {
    const session = this.#session
    if (!session) return false
    const since = this.#now()
    const { service } = this.#options
    const use = service && {
      origin: service.origin,
      waitLeftMs: service.retryAfter.ownLeftMs,
      isBusy: isNew || service.inFlight.size + service.ingestion.countPending() > 0,
    }
    const { isOpen, orders, waitMs, busyOthers } = await session.ledger.renew(session.session, use)
    // The duration of the call is deducted, so that no host waits longer than the service asked.
    service?.retryAfter.recordElsewhere(waitMs - (this.#now().monotonicMs - since.monotonicMs))
    if (isOpen && this.#busyHosts !== busyOthers + 1) {
      this.#busyHosts = busyOthers + 1
      service?.ingestion.announce()
    }
    if (this.#session?.session !== session.session) return false
    if (!isOpen) {
      this.drop(session)
      return false
    }
    this.#session = { ...this.#session, since }
    for (const order of orders) this.#options.onOrder?.(order)
    return true
  }

  /** Forgets the session, unless another one was opened since. */
  drop({ session }: Session): void {
    if (this.#session?.session === session) this.#session = undefined
  }

  holdsLease(session: bigint | undefined): boolean {
    const current = this.#session
    if (!current || current.session !== session) return false
    return leaseLeftMs(current.since, current.leaseMs, this.#now()) > 0
  }

  #now(): UpTime {
    const { clock } = this.#context
    return { monotonicMs: clock.monotonicMs(), bootMs: this.#options.bootMs() }
  }

  #setKey(key: string, value: string): string {
    const { store } = this.#context
    store.write(() => store.keyValues.set(key, value))
    return value
  }
}

/** Throws an OperatorError for a LedgerError that only an operator can resolve, and any other error unchanged. */
function asOperatorError(error: unknown): never {
  if (!(error instanceof LedgerError)) throw error
  const text = IN_USE[error.code]
  throw text === undefined ? error : new OperatorError('host-in-use', text, { cause: error })
}

const IN_USE: Readonly<Partial<Record<LedgerErrorCode, string>>> = {
  'host-in-use':
    'Another process uses the ledger as this host, because the state was copied or restored; stop one of the two processes and remove its state; if the other is still refused, run "shelfd fleet forget" with the name of this host',
  'host-elsewhere':
    'The ledger knows this host with its state in another directory; if this state is a copy, remove it; if it was moved, stop the old host and run "shelfd fleet forget" with the name of this host',
}
