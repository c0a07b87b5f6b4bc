/** The continuous mode for a while: its watcher receives the changes of the disk later, twice or not at all. */
import { InterruptedError } from '../../../src/foundation/errors.ts'
import type { TreeWatcher, WatchEvents } from '../../../src/local/watch/tree-watcher.ts'
import type { ScanIntervals } from '../../../src/rules/scan-times.ts'
import { MirrorController } from '../../../src/sync/continuous/mirror-controller.ts'
import type { WatchMethod } from '../../../src/sync/continuous/mirror-watch.ts'
import { ServiceConnection } from '../../../src/sync/continuous/service-connection.ts'
import type { Engine, MirrorSettings } from '../../../src/sync/engine.ts'
import type { Life } from './life.ts'
import type { Change } from './scenario.ts'
import { ROOT, type World } from './world.ts'

export interface WatchActions {
  readonly settings: MirrorSettings
  start(signal: AbortSignal): { readonly engine: Engine; readonly life: Life }
  apply(change: Change, life: Life): void
  end(life: Life): void
}

const RUN_SPAN_MS = 3_600_000
const MAX_STOP_MS = 3_600_000

export interface WatchPlan {
  readonly forMs: number
  readonly changes: readonly { readonly atMs: number; readonly change: Change }[]
  /** Share of events that the watcher loses. */
  readonly lossShare: number
  readonly scanIntervals: ScanIntervals
  readonly isPolled: boolean
}

export async function watchFor(world: World, plan: WatchPlan, actions: WatchActions): Promise<void> {
  const stop = new AbortController()
  const { engine, life } = actions.start(stop.signal)
  const { scanIntervals } = plan
  world.watching = { sinceMs: world.clock.monotonicMs(), settleMs: scanIntervals.settleMs }
  const timers = plan.changes.map(({ atMs, change }) => world.clock.startTimer(atMs, () => actions.apply(change, life)))
  const connection = new ServiceConnection(engine, {
    onFatal: (error) => life.onFailure(error),
    onChange: () => controller.connectionChanged(),
  })
  const watch = simulatedWatch(world, life, plan)
  const controller = new MirrorController(engine, connection, {
    mirror: actions.settings,
    watch,
    scanIntervals,
    runSpanMs: RUN_SPAN_MS,
  })
  const running = controller.run().then(() => connection.close())
  running.catch((error: unknown) => life.onFailure(error))
  await world.drive(life, running, world.clock.monotonicMs() + plan.forMs)
  for (const timer of timers) timer[Symbol.dispose]()
  stop.abort(new InterruptedError())
  await world.drive(life, running, world.clock.monotonicMs() + MAX_STOP_MS)
  world.disk.onChange = () => {}
  world.watching = undefined
  actions.end(life)
}

/** One watch a directory, as Linux has it. */
function simulatedWatch(world: World, life: Life, { lossShare, isPolled }: WatchPlan): WatchMethod {
  const watched = new Set<string>()
  const listen = (listener: WatchEvents) => {
    world.disk.onChange = (path) => {
      if (!path.startsWith(`${ROOT}/`)) return
      const relative = path.slice(ROOT.length + 1)
      const parent = relative.slice(0, Math.max(0, relative.lastIndexOf('/')))
      if (!watched.has(parent) || world.random() < lossShare) return
      world.clock.startTimer(Math.floor(world.random() * 50), () => {
        if (!life.isDead) listener.onHint(relative)
      })
    }
  }
  const watcher: TreeWatcher = {
    isLimited: false,
    delayMs: 0,
    hasStopped: false,
    add: (directories) => {
      const fresh = directories.filter((path) => !watched.has(path))
      for (const path of fresh) watched.add(path)
      return fresh
    },
    keepOnly: (kept) => {
      for (const path of watched) if (!kept.has(path)) watched.delete(path)
    },
    [Symbol.asyncDispose]: async () => {
      watched.clear()
    },
  }
  return {
    choose: () => ({ backEnd: isPolled ? 'poll' : 'node', reason: 'simulated' }),
    watch: async (_, __, listener) => {
      listen(listener)
      return watcher
    },
  }
}
