import type { Clock } from '../foundation/clock.ts'
import { collectGarbage } from '../foundation/collect-garbage.ts'
import { Mutex } from '../foundation/concurrency/mutex.ts'
import { untilAborted } from '../foundation/concurrency/waits.ts'
import { InterruptedError, messageOf, OperatorError, UsageError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import type { Store } from '../store/open-store.ts'
import { type DaemonStatus, describeStatus } from '../sync/continuous/controller-status.ts'
import type { Service } from '../sync/engine.ts'
import type { NoticePlan } from '../sync/operator/notifications.ts'
import { forgetMirror } from '../sync/pin/pin-mirror.ts'
import { answerClients } from './control/answer-clients.ts'
import { startControlServer } from './control/server.ts'
import { type HealthServer, startHealthServer } from './health.ts'
import { type JumpKind, startHeartbeat } from './heartbeat.ts'
import type { Metrics } from './metrics.ts'
import { Notifier } from './sd-notify.ts'
import { StatusNotices } from './status-notices.ts'
import { Supervisor, type SupervisorPlan } from './supervisor.ts'

export interface HealthAddress {
  readonly host: string
  readonly port: number
  /** The user configured the address, so the daemon does not start if it cannot serve there. */
  readonly isRequired: boolean
}

/** The dashboard's server. It starts when it is first asked for an address. */
export interface DashboardServer extends AsyncDisposable {
  createAddress(): string
}

export interface DaemonPlan {
  readonly supervisor: SupervisorPlan
  readonly health: HealthAddress | null
  readonly notices: NoticePlan | undefined
  /** Messages about configured mirrors that the daemon does not sync. */
  readonly passedOver: readonly string[]
}

export interface Replan {
  readonly plan: DaemonPlan
  readonly changes: readonly string[]
  /** Puts this configuration in force, and reads nothing more. */
  takeOver(): void
  /** Plans the same configuration with all mirrors, if none was forgotten after all. */
  planWithAll(): DaemonPlan
}

export interface DaemonInput {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** The configuration of a client must name the same service. */
  readonly serviceName: string
  readonly plan: DaemonPlan
  readonly metrics: Metrics
  /** Reads the configuration again, and checks all that could prevent its use. `forgotten` counts as absent. Throws UsageError. */
  replan(forgotten?: string): Promise<Replan>
  /** `service` returns that of the running supervisor. */
  openDashboard(service: () => Service): Promise<DashboardServer>
  /** Calls the listener, which reads the configuration again, at each SIGHUP. */
  readonly onHangup: ((listener: () => void) => Disposable) | undefined
}

const BEAT_MS = 15_000

export async function runDaemon(input: DaemonInput): Promise<void> {
  await using daemon = new Daemon(input)
  await daemon.start()
  await daemon.ended()
}

class Daemon implements AsyncDisposable {
  readonly #input: DaemonInput
  readonly #startedAt: number
  readonly #notifier: Notifier
  readonly #mutex = new Mutex()
  readonly #memory = new IdleMemory()
  readonly #parts = new AsyncDisposableStack()
  readonly #fatal = Promise.withResolvers<never>()
  /** Aborted when the daemon ends; from then on, requests that would open something are refused. */
  readonly #ending = new AbortController()
  #supervisor: Supervisor
  #notices: StatusNotices | undefined
  #health: { readonly server: HealthServer; readonly address: HealthAddress } | undefined
  #dashboard: Promise<DashboardServer> | undefined
  #isAlive = () => true

  constructor(input: DaemonInput) {
    this.#input = input
    this.#startedAt = input.clock.nowMs()
    this.#notifier = new Notifier(input)
    this.#fatal.promise.catch(() => {})
    this.#supervisor = this.#startSupervisor(input.plan.supervisor)
    this.#notices = this.#openNotices(input.plan)
  }

  status(): DaemonStatus {
    return { pid: process.pid, startedAt: this.#startedAt, ...this.#supervisor.status }
  }

  async start(): Promise<void> {
    const input = this.#input
    const { store, logger, env, serviceName, clock } = input
    await this.#openHealth(input.plan.health)
    const handlers = answerClients({
      supervisor: () => this.#supervisor,
      status: () => this.status(),
      reload: () => this.#reload(),
      forget: (name) => this.#forget(name),
      dashboard: () => this.#createDashboardAddress(),
    })
    const control = { stateDir: store.directory, env, handlers, logger, service: serviceName }
    this.#parts.use(await startControlServer(control))
    const heartbeat = this.#parts.use(
      startHeartbeat({
        clock,
        intervalMs: BEAT_MS,
        onBeat: () => this.#beat(),
        onJump: (kind, byMs) => this.#onJump(kind, byMs),
      }),
    )
    this.#isAlive = () => heartbeat.isAlive()
    const hangup = input.onHangup?.(() => void this.#reload().catch(() => {}))
    if (hangup) this.#parts.use(hangup)
    this.#parts.use(this.#notifier.startWatchdog(this.#isAlive))
    this.#notifier.ready(describeStatus(this.status()))
    this.#reportPassedOver(input.plan)
    const mirrors = this.#supervisor.controllers.map(({ name }) => name)
    logger.info('the daemon has started', {
      mirrors,
      service: serviceName,
      ...(this.#health && { health: this.#health.server.url }),
    })
  }

  /** Throws the error that ends the daemon. */
  async ended(): Promise<void> {
    const { signal } = this.#input
    await Promise.race([untilAborted(signal), this.#fatal.promise])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { logger, clock } = this.#input
    const startMs = clock.monotonicMs()
    logger.info('the daemon stops: it finishes uploads in flight', { uploading: this.#supervisor.status.uploading })
    this.#notifier.stopping()
    this.#ending.abort(new InterruptedError('The daemon stops'))
    // First, because its syncs use the supervisor.
    await (await this.#dashboard?.catch(() => undefined))?.[Symbol.asyncDispose]()
    // Waits for a running reload, which replaces the supervisor; those that wait are refused.
    using _lock = await this.#mutex.lock()
    await this.#supervisor.stop()
    await this.#parts.disposeAsync()
    await this.#notices?.[Symbol.asyncDispose]()
    await this.#health?.server[Symbol.asyncDispose]()
    logger.info('the daemon has ended', { afterMs: Math.round(clock.monotonicMs() - startMs) })
  }

  async #createDashboardAddress(): Promise<string> {
    this.#ending.signal.throwIfAborted()
    this.#dashboard ??= this.#input.openDashboard(() => this.#supervisor.engine.service)
    const opening = this.#dashboard
    try {
      return (await opening).createAddress()
    } catch (error) {
      if (this.#dashboard === opening) this.#dashboard = undefined
      throw error
    }
  }

  #startSupervisor(plan: SupervisorPlan): Supervisor {
    return new Supervisor(plan, (error) => this.#fail(error))
  }

  #openNotices({ notices }: DaemonPlan): StatusNotices | undefined {
    return notices && new StatusNotices(this.#input, notices)
  }

  /** If another program has changed the store, that is reported instead of `error`, which follows from it. */
  #fail(error: unknown): void {
    this.#fatal.reject(this.#input.store.findChange() ?? error)
  }

  #beat(): void {
    const change = this.#input.store.findChange()
    if (change) this.#fail(change)
    this.#supervisor.applyMaintenance()
    const status = this.status()
    this.#notifier.status(describeStatus(status))
    if (isIdle(status)) this.#memory.release()
    this.#notices?.beat(() => this.status()).catch((error: unknown) => this.#fail(error))
  }

  #onJump(kind: JumpKind, byMs: number): void {
    const message =
      kind === 'woke'
        ? 'the machine woke, or its clock was set forward: every mirror is checked'
        : 'the clock was set back: every mirror is checked'
    this.#input.logger.info(message, { byMs: Math.round(byMs) })
    this.#notices?.woke()
    this.#supervisor.wake().catch((error: unknown) => this.#fail(error))
  }

  async #reload(): Promise<void> {
    await this.#replace(undefined, () => {})
  }

  /** If the configuration still has the mirror, the next supervisor treats it as a new one. */
  async #forget(name: string): Promise<string> {
    const { store, clock, logger } = this.#input
    return await this.#replace(name, () => {
      const copy = forgetMirror(store, name, clock.nowMs())
      logger.info('the mirror is forgotten', { mirror: name, copy })
      return copy
    })
  }

  /** Reads the configuration again and replaces the supervisor; `between` runs while there is none. Throws InterruptedError. */
  async #replace<T>(forgotten: string | undefined, between: () => T): Promise<T> {
    using _lock = await this.#mutex.lock(this.#ending.signal)
    const { logger } = this.#input
    this.#notifier.reloading()
    let isWithoutSupervisor = false
    let attempt: Attempt<T>
    try {
      const replan = await this.#input.replan(forgotten)
      let { plan } = replan
      // This comes first: if the address is in use, the old configuration can stay in force.
      await this.#moveHealth(plan)
      isWithoutSupervisor = true
      await this.#supervisor.stop()
      attempt = attemptTo(between)
      // The mirror was not forgotten, so the plan must include it again.
      if ('error' in attempt) {
        await plan.supervisor[Symbol.asyncDispose]()
        plan = replan.planWithAll()
      }
      this.#supervisor = this.#startSupervisor(plan.supervisor)
      // The old notices end first, because the new ones read from the store what was sent.
      await this.#notices?.[Symbol.asyncDispose]()
      this.#notices = this.#openNotices(plan)
      replan.takeOver()
      this.#reportPassedOver(plan)
      const { changes } = replan
      logger.info('the configuration was read again', { changes: changes.length === 0 ? 'none' : changes })
    } catch (error) {
      if (isWithoutSupervisor) this.#fail(error)
      logger.error('cannot use the new configuration; the old one stays in force', { reason: messageOf(error) })
      throw error
    } finally {
      this.#notifier.ready(describeStatus(this.status()))
    }
    if ('error' in attempt) throw attempt.error
    return attempt.value
  }

  #reportPassedOver({ passedOver, supervisor }: DaemonPlan): void {
    const { logger } = this.#input
    for (const reason of passedOver) logger.warn('a configured mirror is not synced', { reason })
    if (supervisor.mirrors.length === 0)
      logger.warn('there is no mirror to sync; configure one, or run "shelfd sync DIR"')
  }

  /** Serves health at the new address. If it cannot, disposes of the plan, serves at the old address and throws. */
  async #moveHealth({ health, supervisor }: DaemonPlan): Promise<void> {
    const before = this.#health?.address
    if (before && health && before.host === health.host && before.port === health.port) return
    try {
      await this.#openHealth(health)
    } catch (error) {
      await supervisor[Symbol.asyncDispose]()
      if (before) await this.#openHealth({ ...before, isRequired: false })
      throw error
    }
  }

  async #openHealth(address: HealthAddress | null): Promise<void> {
    await this.#health?.server[Symbol.asyncDispose]()
    this.#health = undefined
    if (address === null) return
    const { logger, metrics } = this.#input
    const view = {
      status: () => {
        this.#supervisor.connection.probe().catch((error: unknown) => this.#fail(error))
        return this.status()
      },
      renderMetrics: async () => ({
        body: await metrics.render(() => this.status()),
        contentType: metrics.contentType,
      }),
      isAlive: () => this.#isAlive(),
    }
    try {
      this.#health = { server: await startHealthServer({ ...address, view, logger }), address }
    } catch (error) {
      if (address.isRequired || !(error instanceof UsageError)) throw error
      logger.warn('cannot serve health and metrics; the daemon runs without them', { reason: messageOf(error) })
    }
  }
}

type Attempt<T> = { readonly value: T } | { readonly error: unknown }

/** Returns the error of `work`; but throws OperatorError, which ends the daemon. */
function attemptTo<T>(work: () => T): Attempt<T> {
  try {
    return { value: work() }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    return { error }
  }
}

function isIdle({ mirrors, uploading, inIngestion }: DaemonStatus): boolean {
  return uploading === 0 && inIngestion === 0 && mirrors.every(({ state }) => state === 'idle')
}

/** Smaller growth of the heap is not worth a collection. */
const MIN_GROWTH_BYTES = 8 << 20

/** Collects the garbage of an idle daemon's last pass, which V8 would keep: it collects only while it allocates. */
export class IdleMemory {
  readonly #collect: () => void
  #heapBytes = process.memoryUsage().heapTotal

  constructor(collect = collectGarbage) {
    this.#collect = collect
  }

  /** Call it from time to time while the daemon is idle; it takes a tenth of a second. */
  release(): void {
    if (process.memoryUsage().heapTotal < this.#heapBytes + MIN_GROWTH_BYTES) return
    this.#collect()
    this.#heapBytes = process.memoryUsage().heapTotal
  }
}
