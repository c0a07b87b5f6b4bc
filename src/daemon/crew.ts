import { InterruptedError } from '../foundation/errors.ts'
import type { ControllerSettings } from '../sync/continuous/controller-settings.ts'
import { MirrorController, SCHEDULED } from '../sync/continuous/mirror-controller.ts'
import { ServiceConnection } from '../sync/continuous/service-connection.ts'
import type { Engine } from '../sync/engine.ts'
import { isPaused } from '../sync/pause.ts'
import type { LibraryAccess } from './control/answers.ts'
import { forgetNotes } from './forget-notes.ts'
import { type MaintenanceWindow, MaintenanceWindows } from './maintenance.ts'
import { type Schedules, startSchedules } from './schedule.ts'
import type { DaemonStanding, MirrorStanding } from './standing.ts'

export interface CrewMirror {
  readonly keeper: ControllerSettings
  /** Five-field cron of its batches; null: it sends at once. */
  readonly schedule: string | null
  /** A batch begins nothing new after so long. */
  readonly maxDurationMs: number | null
}

/** Everything that follows from one reading of the configuration. */
export interface CrewPlan extends AsyncDisposable {
  readonly engine: Engine
  /** Ends the engine's work, with the reason. */
  readonly abort: (reason: unknown) => void
  readonly mirrors: readonly CrewMirror[]
  readonly timeZone: string | undefined
  readonly maintenance: readonly MaintenanceWindow[]
  lendLibrary(): Promise<LibraryAccess | null>
}

/** The keepers of all mirrors, the line they share, and the times at which they may send. */
export class Crew {
  readonly engine: Engine
  readonly line: ServiceConnection
  readonly keepers: readonly MirrorController[]
  readonly plan: CrewPlan
  readonly #windows: MaintenanceWindows
  readonly #schedules: Schedules
  readonly #runs: readonly Promise<void>[]
  /** Work for others that goes on now. */
  readonly #guests = new Set<Promise<unknown>>()

  /** `onFatal` is called once with what stops the daemon. */
  constructor(plan: CrewPlan, onFatal: (error: unknown) => void) {
    const { engine, mirrors, timeZone, maintenance } = plan
    this.plan = plan
    this.engine = engine
    this.line = new ServiceConnection(engine, { onFatal, onChange: () => this.#tellLineChange() })
    this.keepers = mirrors.map(({ keeper }) => new MirrorController(engine, this.line, keeper))
    this.#windows = new MaintenanceWindows(maintenance, timeZone)
    this.applyPauses()
    this.applyMaintenance()
    const scheduled = mirrors.flatMap(({ schedule, keeper }) =>
      schedule === null ? [] : [{ name: keeper.mirror.name, cron: schedule }],
    )
    for (const { name } of scheduled) this.#find(name)?.hold('scheduled', SCHEDULED)
    const { clock, store, logger } = engine
    forgetNotes(store, {
      names: [...this.keepers, ...store.mirrors.list()].map(({ name }) => name),
      scheduled: scheduled.map(({ name }) => name),
    })
    const onDue = (name: string) => this.#batch(name)
    this.#schedules = startSchedules(scheduled, { timeZone, clock, store, logger, onDue })
    this.#runs = this.keepers.map((keeper) => keeper.run())
    Promise.all(this.#runs).catch(onFatal)
  }

  /** Lets others work with what the crew has: it stays until `work` has ended. */
  async host<T>(work: () => Promise<T>): Promise<T> {
    this.engine.signal.throwIfAborted()
    const guest = work()
    this.#guests.add(guest)
    try {
      return await guest
    } finally {
      this.#guests.delete(guest)
    }
  }

  /** Ends all work; what is under way is ended in order. */
  async stop(): Promise<void> {
    this.#schedules[Symbol.dispose]()
    this.plan.abort(new InterruptedError())
    await Promise.allSettled(this.keepers.map((keeper) => keeper.quiesce()))
    // What fails in one of them was told; the others still use what is closed next.
    await Promise.allSettled([...this.#runs, ...this.#guests])
    await this.line.close()
    await this.plan[Symbol.asyncDispose]()
  }

  /** The machine slept, or its clock was set: sockets, roots and times are not what they were. */
  async wake(): Promise<void> {
    for (const keeper of this.keepers) keeper.restart('the machine slept, or its clock was set')
    await this.line.reset()
    this.#schedules.check()
    this.applyMaintenance()
    for (const keeper of this.keepers) keeper.wake()
  }

  applyPauses(): void {
    for (const keeper of this.keepers) {
      if (isPaused(this.engine.store, keeper.name))
        keeper.hold('paused', `"shelfd resume ${keeper.name}" ends the pause`)
      else keeper.release('paused')
    }
  }

  applyMaintenance(): void {
    const endMs = this.#windows.closedUntil(this.engine.clock.nowMs())
    for (const keeper of this.keepers) {
      if (endMs === null) keeper.release('maintenance')
      else keeper.hold('maintenance', `maintenance until ${new Date(endMs).toISOString()}`)
    }
  }

  get standing(): Omit<DaemonStanding, 'pid' | 'startedAt'> {
    const mirrors = this.keepers.map((keeper) => this.#standingOf(keeper))
    return {
      service: this.line.standing,
      isStoreFull: mirrors.some(({ reason }) => reason?.code === 'disk-full'),
      uploading: this.engine.uploads.pending,
      inIngestion: this.line.follower?.countPending() ?? 0,
      mirrors,
    }
  }

  #standingOf(keeper: MirrorController): MirrorStanding {
    const { nextScanAt, ...standing } = keeper.standing
    const { name, path } = keeper.settings.mirror
    const times = [nextScanAt, this.#schedules.nextRunAt(name)].filter((time) => time !== null)
    return { name, path, ...standing, nextRunAt: times.length === 0 ? null : Math.min(...times) }
  }

  async #batch(name: string): Promise<void> {
    const { maxDurationMs } = this.plan.mirrors.find(({ keeper }) => keeper.mirror.name === name) ?? {}
    const end = new AbortController()
    const { clock, signal } = this.engine
    const isLong = maxDurationMs ? clock.sleep(maxDurationMs, end.signal).then(() => end.abort()) : undefined
    isLong?.catch(() => {})
    await this.#find(name)?.batch(AbortSignal.any([signal, end.signal]))
    end.abort()
  }

  #find(name: string): MirrorController | undefined {
    return this.keepers.find((keeper) => keeper.name === name)
  }

  #tellLineChange(): void {
    for (const keeper of this.keepers) keeper.noteLineChange()
  }
}
