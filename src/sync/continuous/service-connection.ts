import { AccessError, ShelfdError } from '../../foundation/errors.ts'
import { formatDuration } from '../../foundation/text/units.ts'
import { describeCause, type Outage } from '../../remote/policies/outage.ts'
import { RECONNECT_POLICIES, reactToFailure } from '../../rules/react-to-failure.ts'
import { retryDelayMs } from '../../rules/retry-delay.ts'
import type { Connection, Engine } from '../engine.ts'
import { IngestionFollower } from '../ingestion/follow-ingestion.ts'
import type { ServiceStatus } from './controller-status.ts'

export interface OpenConnection {
  readonly connection: Connection
  readonly follower: IngestionFollower
}

/** An outage is reported once it lasts this long. Most outages end sooner, after some retries. */
const AWAY_AFTER_MS = 10_000
/** The shortest interval between two requests that only check whether the service answers. */
const PROBE_INTERVAL_MS = 10_000

export interface ConnectionHooks {
  onChange(): void
  onFatal(error: unknown): void
}

/** The connection that all mirrors share. It opens when needed, closes after a failure, and reopens after growing delays. */
export class ServiceConnection {
  readonly #engine: Engine
  readonly #hooks: ConnectionHooks
  #open: OpenConnection | undefined
  #opening: Promise<OpenConnection> | undefined
  #following: Promise<void> = Promise.resolve()
  #closings = 0
  #failures = 0
  #retryAtMs = 0
  #status: ServiceStatus
  #outage: Outage | null = null
  #outageEnd = new AbortController()
  #probeAtMs = 0

  constructor(engine: Engine, hooks: ConnectionHooks) {
    this.#engine = engine
    this.#hooks = hooks
    this.#status = { state: 'unasked', sinceMs: engine.clock.nowMs(), reason: null }
    // Every request over this engine reports outages here, so the status shows them while the request still retries.
    engine.service.onOutage((outage) => this.#recordOutage(outage))
  }

  get status(): ServiceStatus {
    return this.#status
  }

  get retryAtMs(): number {
    return this.#retryAtMs
  }

  get follower(): IngestionFollower | undefined {
    return this.#open?.follower
  }

  /** Returns the open connection, or opens it. If that throws, the caller calls `recordFailure`. */
  async open(): Promise<OpenConnection> {
    if (this.#open) return this.#open
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** Closes the connection after a failure, and sets `retryAtMs`. The delay grows with each failure until `recordSuccess`. */
  async recordFailure(error: ShelfdError): Promise<void> {
    const { clock, random, logger, service } = this.#engine
    const state = error instanceof AccessError ? 'refused' : 'away'
    // Several mirrors may report the same failure of the connection: it counts once.
    if (this.#open === undefined && this.#status.state === state && clock.monotonicMs() < this.#retryAtMs) return
    const isNew = this.#status.state !== state || this.#status.reason?.code !== error.code
    this.#failures += 1
    const delayMs = retryDelayMs(Math.min(this.#failures, 32), RECONNECT_POLICIES[state], random())
    this.#retryAtMs = clock.monotonicMs() + delayMs
    const sinceMs = this.#status.state === state ? this.#status.sinceMs : clock.nowMs()
    this.#status = { state, sinceMs, reason: { code: error.code, message: error.message } }
    if (isNew) logger[state === 'away' ? 'warn' : 'error'](MESSAGES[state], { code: error.code, reason: error.message })
    else logger.debug(MESSAGES[state], { code: error.code, tries: this.#failures })
    this.#forgetOutage()
    const closed = this.close()
    // Disconnects before the follower has ended: it may wait long for an answer, and mirrors must not use this connection meanwhile.
    await service.disconnect()
    await closed
    this.#hooks.onChange()
  }

  /** Asks whether the service answers, because the status is out of date if nothing was requested for long. */
  async probe(): Promise<void> {
    const { clock, signal, service } = this.#engine
    const open = this.#open
    if (!open || service.isEmbedded || clock.monotonicMs() < this.#probeAtMs) return
    this.#probeAtMs = Number.POSITIVE_INFINITY
    try {
      await open.connection.client.checkAccess(signal)
    } catch (error) {
      if (this.#open !== open || !(error instanceof ShelfdError)) return
      if (reactToFailure(error).scope === 'service') await this.recordFailure(error)
    } finally {
      this.#probeAtMs = clock.monotonicMs() + PROBE_INTERVAL_MS
    }
  }

  /** Drops the sockets, for example after the machine slept; the next request opens new ones at once. */
  async reset(): Promise<void> {
    this.#retryAtMs = 0
    const closed = this.close()
    // The follower may wait for an answer on a dead socket: without the reset, `closed` might not settle.
    await this.#engine.service.reset()
    await closed
  }

  /** Stops the follower; that of the next connection continues with the pending resources. */
  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    this.#closings += 1
    open?.follower.finish(0)
    await this.#following
  }

  async #connect(): Promise<OpenConnection> {
    const closings = this.#closings
    const connection = await this.#engine.service.connect(this.#engine.signal)
    // `close` was called meanwhile, for example because a mirror reported a failure of the previous connection late.
    if (closings !== this.#closings) return this.#connect()
    const follower = new IngestionFollower(this.#engine, connection)
    const open = { connection, follower }
    this.#open = open
    this.#probeAtMs = this.#engine.clock.monotonicMs() + PROBE_INTERVAL_MS
    this.#following = follower.run().catch((error: unknown) => this.#onFollowerFailure(open, error))
    this.#recordConnected()
    return open
  }

  #recordConnected(): void {
    const { clock, logger } = this.#engine
    const { state, sinceMs } = this.#status
    const away = formatDuration(Math.max(0, clock.nowMs() - sinceMs))
    if (state === 'away' || state === 'refused') logger.info('the service is back', { after: away })
    this.#status = { state: 'connected', sinceMs: clock.nowMs(), reason: null }
    this.#retryAtMs = 0
    this.#hooks.onChange()
  }

  recordSuccess(): void {
    this.#failures = 0
  }

  #recordOutage(outage: Outage | null): void {
    const isNew = this.#outage === null
    this.#outage = outage
    if (outage && isNew) void this.#reportLongOutage()
    if (outage && this.#status.state === 'away') this.#updateReason(outage)
    if (outage || isNew) return
    this.#forgetOutage()
    if (this.#status.state === 'away') this.#recordConnected()
  }

  /** Forgets an outage that is over or whose connection is closed. The next connection reports its own outages. */
  #forgetOutage(): void {
    this.#outage = null
    this.#outageEnd.abort()
  }

  async #reportLongOutage(): Promise<void> {
    const { clock, signal } = this.#engine
    this.#outageEnd = new AbortController()
    const end = AbortSignal.any([signal, this.#outageEnd.signal])
    await clock.sleep(AWAY_AFTER_MS, end).catch(() => {})
    const outage = this.#outage
    const { state } = this.#status
    if (end.aborted || !outage || state === 'away' || state === 'refused') return
    const reason = this.#reasonOf(outage)
    this.#status = { state: 'away', sinceMs: outage.sinceMs, reason }
    this.#engine.logger.warn(MESSAGES.away, { code: reason.code, reason: reason.message })
    this.#hooks.onChange()
  }

  #updateReason(outage: Outage): void {
    this.#status = { ...this.#status, reason: this.#reasonOf(outage) }
  }

  #reasonOf(outage: Outage) {
    return { code: outage.code, message: describeCause(outage, this.#engine.clock.nowMs()) }
  }

  #onFollowerFailure(open: OpenConnection, error: unknown): void {
    if (this.#open !== open || this.#engine.signal.aborted) return
    if (error instanceof ShelfdError && reactToFailure(error).state !== 'stopped')
      this.recordFailure(error).catch((failed: unknown) => this.#hooks.onFatal(failed))
    else this.#hooks.onFatal(error)
  }
}

const MESSAGES = {
  away: 'the service is away: shelfd waits until it answers',
  refused: 'the service refuses the credential or the connection: an operator must act',
}
