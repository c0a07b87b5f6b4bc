import { RefusedError, ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import { formatDuration } from '../../foundation/units.ts'
import { describeCause } from '../../remote/policies/describe-outage.ts'
import type { Outage } from '../../remote/policies/outage.ts'
import { concernsOneMirror } from '../../rules/failure-scope.ts'
import { retryDelayMs } from '../../rules/retry-delay.ts'
import type { Connection, Engine } from '../engine.ts'
import { IngestionFollower } from '../ingestion/follow-ingestion.ts'
import type { ServiceStatus } from './controller-status.ts'

/** An open connection, and who follows the ingestion of what is sent over it. */
export interface OpenConnection {
  readonly connection: Connection
  readonly follower: IngestionFollower
}

/** Trying again mends most that fails; what isn't mended by then is told. */
const AWAY_AFTER_MS = 10_000
/** The least between two requests that only ask whether the service answers. */
const PROBE_PAUSE_MS = 10_000

/** Until somebody tries again: a service that is away comes back by itself, a credential is replaced by people. */
const AWAY = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 5_000, maxDelayMs: 120_000 }
const REFUSED = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 60_000, maxDelayMs: 3_600_000 }

/** Whether an error concerns the service as a whole rather than one mirror. */
export function concernsService(error: ShelfdError): boolean {
  if (error instanceof TemporaryError) return error.code !== 'disk-full'
  return error instanceof RefusedError && !concernsOneMirror(error)
}

export interface ConnectionHooks {
  /** The status changed. */
  onChange(): void
  /** Something happened that stops the daemon. */
  onFatal(error: unknown): void
}

/** The one line to the service that all mirrors share: opened when needed, given up on failure, tried again with growing pauses. */
export class ServiceConnection {
  readonly #engine: Engine
  readonly #hooks: ConnectionHooks
  #open: OpenConnection | undefined
  #opening: Promise<OpenConnection> | undefined
  #following: Promise<void> = Promise.resolve()
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
    // Whoever asks the service over this engine, and however often it tries again: that it is away is known soon.
    engine.service.onOutage((outage) => this.#recordOutage(outage))
  }

  get status(): ServiceStatus {
    return this.#status
  }

  /** When it makes sense to call `open` again (monotonic). */
  get retryAtMs(): number {
    return this.#retryAtMs
  }

  /** Undefined while it is not open. */
  get follower(): IngestionFollower | undefined {
    return this.#open?.follower
  }

  /** The open line; throws what keeps it from being opened, after noting it. */
  async open(): Promise<OpenConnection> {
    if (this.#open) return this.#open
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** Something failed on the line: it is closed, and opened anew after a pause, which grows until `noteSuccess`. */
  async recordFailure(error: ShelfdError): Promise<void> {
    const { clock, random, logger, service } = this.#engine
    const state = error instanceof TemporaryError ? 'away' : 'refused'
    // Others failed with it: one failure of the line, however many mirrors it has.
    if (this.#open === undefined && this.#status.state === state && clock.monotonicMs() < this.#retryAtMs) return
    const isNew = this.#status.state !== state || this.#status.reason?.code !== error.code
    this.#failures += 1
    const pauseMs = retryDelayMs(Math.min(this.#failures, 32), state === 'away' ? AWAY : REFUSED, random())
    this.#retryAtMs = clock.monotonicMs() + pauseMs
    const sinceMs = this.#status.state === state ? this.#status.sinceMs : clock.nowMs()
    this.#status = { state, sinceMs, reason: { code: error.code, message: error.message } }
    if (isNew) logger[state === 'away' ? 'warn' : 'error'](MESSAGES[state], { code: error.code, reason: error.message })
    else logger.debug(MESSAGES[state], { code: error.code, tries: this.#failures })
    this.#forgetOutage()
    await this.close()
    await service.disconnect()
    this.#hooks.onChange()
  }

  /** Asks whether the service still answers: somebody wants to know how the line stands, and it may have had nothing to ask for long. */
  async probe(): Promise<void> {
    const { clock, signal, service } = this.#engine
    const line = this.#open
    if (!line || service.isEmbedded || clock.monotonicMs() < this.#probeAtMs) return
    this.#probeAtMs = Number.POSITIVE_INFINITY
    try {
      await line.connection.client.checkAccess(signal)
    } catch (error) {
      const isOfLine = this.#open === line && error instanceof ShelfdError && concernsService(error)
      if (isOfLine) await this.recordFailure(error)
    } finally {
      this.#probeAtMs = clock.monotonicMs() + PROBE_PAUSE_MS
    }
  }

  /** Drops the sockets, as after a sleep of the machine; the next request opens new ones at once. */
  async reset(): Promise<void> {
    this.#retryAtMs = 0
    const closed = this.close()
    // Who follows may wait for a dead socket.
    await this.#engine.service.reset()
    await closed
  }

  /** Stops following; what is pending is followed over the next line. */
  async close(): Promise<void> {
    const line = this.#open
    this.#open = undefined
    line?.follower.finish(0)
    await this.#following
  }

  async #connect(): Promise<OpenConnection> {
    const connection = await this.#engine.service.connect(this.#engine.signal)
    const follower = new IngestionFollower(this.#engine, connection)
    const line = { connection, follower }
    this.#open = line
    this.#probeAtMs = this.#engine.clock.monotonicMs() + PROBE_PAUSE_MS
    this.#following = follower.run().catch((error: unknown) => this.#onFollowerFailure(line, error))
    this.#noteWell()
    return line
  }

  #noteWell(): void {
    const { clock, logger } = this.#engine
    const { state, sinceMs } = this.#status
    const away = formatDuration(Math.max(0, clock.nowMs() - sinceMs))
    if (state === 'away' || state === 'refused') logger.info('the service is back', { after: away })
    this.#status = { state: 'connected', sinceMs: clock.nowMs(), reason: null }
    this.#retryAtMs = 0
    this.#hooks.onChange()
  }

  /** A request got its answer: the next failure is the first one again. */
  recordSuccess(): void {
    this.#failures = 0
  }

  #recordOutage(outage: Outage | null): void {
    const isNew = this.#outage === null
    this.#outage = outage
    if (outage && isNew) void this.#awaitEnd()
    if (outage && this.#status.state === 'away') this.#noteCause(outage)
    if (outage || isNew) return
    this.#forgetOutage()
    if (this.#status.state === 'away') this.#noteWell()
  }

  /** Over, or the line that met it is given up: the next line meets its own. */
  #forgetOutage(): void {
    this.#outage = null
    this.#outageEnd.abort()
  }

  /** A short outage is mended by trying again, and is not worth telling. */
  async #awaitEnd(): Promise<void> {
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

  /** Away for another reason, or asked to wait until later: it shows, and is not said again. */
  #noteCause(outage: Outage): void {
    this.#status = { ...this.#status, reason: this.#reasonOf(outage) }
  }

  #reasonOf(outage: Outage) {
    return { code: outage.code, message: describeCause(outage, this.#engine.clock.nowMs()) }
  }

  #onFollowerFailure(line: OpenConnection, error: unknown): void {
    if (this.#open !== line || this.#engine.signal.aborted) return
    if (error instanceof TemporaryError || error instanceof RefusedError)
      this.recordFailure(error).catch((failed: unknown) => this.#hooks.onFatal(failed))
    else this.#hooks.onFatal(error)
  }
}

const MESSAGES = {
  away: 'the service is away: waiting for it',
  refused: 'the service refuses: waiting for an operator',
}
