import { InterruptedError, messageOf } from '../foundation/errors.ts'
import { shellWord } from '../foundation/text/safe-text.ts'
import { formatTime } from '../foundation/text/times.ts'
import type { Store } from '../store/open-store.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../sync/continuous/controller-status.ts'
import { MirrorController, SCHEDULED } from '../sync/continuous/mirror-controller.ts'
import type { ControllerSettings } from '../sync/continuous/mirror-watch.ts'
import { ServiceConnection } from '../sync/continuous/service-connection.ts'
import type { Engine, MirrorSettings } from '../sync/engine.ts'
import { forgetPause, isPaused, listPauseKeys } from '../sync/operator/pause-mirrors.ts'
import { type Maintenance, type MaintenanceWindow, MaintenanceWindows } from './schedule/maintenance.ts'
import { forgetHandled, listHandled, type Schedules, startSchedules } from './schedule/schedule.ts'

/** The wall clock may be set into or out of a window at any moment. */
const MAINTENANCE_CHECK_MS = 1_000

export interface SupervisedMirror {
  readonly controller: ControllerSettings
  /** Five-field cron of its batches; null when the mirror sends changes at once. */
  readonly schedule: string | null
  /** A batch starts no new work after this time. */
  readonly maxDurationMs: number | null
}

export interface SupervisorPlan extends AsyncDisposable {
  readonly engine: Engine
  readonly abort: (reason: unknown) => void
  readonly mirrors: readonly SupervisedMirror[]
  readonly timeZone: string | undefined
  readonly maintenance: readonly MaintenanceWindow[]
  /** Admits mirrors that a client asks to sync, which the plan need not have; throws UsageError. */
  admit(mirrors: readonly MirrorSettings[]): readonly MirrorSettings[]
}

/** The controllers of all mirrors, the connection they share, and the times at which they may upload. */
export class Supervisor {
  readonly engine: Engine
  readonly connection: ServiceConnection
  readonly controllers: readonly MirrorController[]
  readonly plan: SupervisorPlan
  readonly #windows: MaintenanceWindows
  #maintenance: Maintenance | undefined
  readonly #schedules: Schedules
  readonly #runs: readonly Promise<void>[]
  readonly #hosted = new Set<Promise<unknown>>()

  /** `onFatal` gets an error that must stop the daemon. */
  constructor(plan: SupervisorPlan, onFatal: (error: unknown) => void) {
    const { engine, mirrors, timeZone, maintenance } = plan
    this.plan = plan
    this.engine = engine
    this.connection = new ServiceConnection(engine, {
      onFatal,
      onChange: () => this.#announceConnectionChange(),
    })
    this.controllers = mirrors.map(({ controller }) => new MirrorController(engine, this.connection, controller))
    this.#windows = new MaintenanceWindows(maintenance, timeZone)
    this.applyPauses()
    this.applyMaintenance()
    const scheduled = mirrors.flatMap(({ schedule, controller }) =>
      schedule === null ? [] : [{ name: controller.mirror.name, cron: schedule }],
    )
    for (const { name } of scheduled) this.#find(name)?.hold('scheduled', SCHEDULED)
    const { clock, store, logger } = engine
    try {
      const names = [...this.controllers, ...store.mirrors.list()].map(({ name }) => name)
      forgetRemoved(
        store,
        names,
        scheduled.map(({ name }) => name),
      )
    } catch (error) {
      // The disk may be full; the next start tries again.
      logger.warn('cannot forget pauses and schedules of removed mirrors', { reason: messageOf(error) })
    }
    const onDue = (name: string) => this.#batch(name)
    this.#schedules = startSchedules(scheduled, { timeZone, clock, store, logger, onDue })
    this.#runs = [...this.controllers.map((controller) => controller.run()), this.#watchMaintenance()]
    Promise.all(this.#runs).catch(onFatal)
  }

  /** Runs work of a client, for which `stop` waits. Throws InterruptedError after `stop`. */
  async host<T>(work: () => Promise<T>): Promise<T> {
    if (this.engine.signal.aborted)
      throw new InterruptedError('The daemon stops, or reads its configuration again; run the command again')
    const running = work()
    this.#hosted.add(running)
    try {
      return await running
    } finally {
      this.#hosted.delete(running)
    }
  }

  /** Waits for the end of all work, then closes connection and plan. */
  async stop(): Promise<void> {
    this.#schedules[Symbol.dispose]()
    this.plan.abort(new InterruptedError())
    await Promise.allSettled(this.controllers.map((controller) => controller.quiesce()))
    // They must end before the connection closes. Their errors were reported.
    await Promise.allSettled([...this.#runs, ...this.#hosted])
    await this.connection.close()
    await this.plan[Symbol.asyncDispose]()
  }

  /** Call it after the machine slept, or its clock was set. */
  async wake(): Promise<void> {
    for (const controller of this.controllers) controller.restart('the machine slept, or its clock was set')
    await this.connection.reset()
    this.#schedules.check()
    this.applyMaintenance()
    for (const controller of this.controllers) controller.wake()
  }

  applyPauses(): void {
    for (const controller of this.controllers) {
      if (isPaused(this.engine.store, controller.name))
        controller.hold('paused', `"shelfd resume ${shellWord(controller.name)}" ends the pause`)
      else controller.release('paused')
    }
  }

  applyMaintenance(): void {
    const nowMs = this.engine.clock.nowMs()
    if (this.#maintenance && this.#maintenance.fromMs <= nowMs && nowMs < this.#maintenance.toMs) return
    this.#maintenance = this.#windows.at(nowMs)
    const { closedUntil: endMs } = this.#maintenance
    for (const controller of this.controllers) {
      if (endMs === null) controller.release('maintenance')
      else controller.hold('maintenance', `maintenance until ${formatTime(endMs, nowMs)}`)
    }
  }

  async #watchMaintenance(): Promise<void> {
    const { clock, signal } = this.engine
    while (!this.#windows.isEmpty && !signal.aborted) {
      await clock.sleep(MAINTENANCE_CHECK_MS, signal).catch(() => {})
      if (!signal.aborted) this.applyMaintenance()
    }
  }

  get status(): Omit<DaemonStatus, 'pid' | 'startedAt'> {
    const mirrors = this.controllers.map((controller) => this.#statusOf(controller))
    return {
      service: this.connection.status,
      ledger: this.engine.fleet?.status ?? null,
      isStoreFull: mirrors.some(({ reason }) => reason?.code === 'disk-full'),
      uploading: this.engine.uploads.pending,
      inIngestion: this.engine.ingestion.countPending(),
      mirrors,
    }
  }

  #statusOf(controller: MirrorController): DaemonMirrorStatus {
    const { nextScanAt, ...status } = controller.status
    const { name, path } = controller.settings.mirror
    const nextBatchAt = this.#schedules.nextBatchAt(name)
    const times = [nextScanAt, nextBatchAt].filter((time) => time !== null)
    return { name, path, ...status, nextRunAt: times.length === 0 ? null : Math.min(...times), nextBatchAt }
  }

  async #batch(name: string): Promise<void> {
    const { maxDurationMs } = this.plan.mirrors.find(({ controller }) => controller.mirror.name === name) ?? {}
    const end = new AbortController()
    const { clock, signal } = this.engine
    const limit = maxDurationMs ? clock.sleep(maxDurationMs, end.signal).then(() => end.abort()) : undefined
    limit?.catch(() => {})
    await this.#find(name)?.batch(AbortSignal.any([signal, end.signal]))
    end.abort()
  }

  #find(name: string): MirrorController | undefined {
    return this.controllers.find((controller) => controller.name === name)
  }

  #announceConnectionChange(): void {
    for (const controller of this.controllers) controller.connectionChanged()
  }
}

/** Forgets pauses and schedules of removed mirrors, so that later mirrors with their names start without them. */
export function forgetRemoved(store: Store, names: readonly string[], scheduled: readonly string[]): void {
  const pauses = listPauseKeys(store).filter((name) => !names.includes(name))
  const schedules = listHandled(store.keyValues).filter((name) => !scheduled.includes(name))
  if (pauses.length + schedules.length === 0) return
  store.write(() => {
    for (const name of pauses) forgetPause(store, name)
    for (const name of schedules) forgetHandled(store.keyValues, name)
  })
}
