/** One controller in this process, whose watcher reports only the hints of the test. */
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { InterruptedError } from '../../src/foundation/errors.ts'
import type { TreeWatcher, WatchEvents } from '../../src/local/watch/tree-watcher.ts'
import { MirrorController } from '../../src/sync/continuous/mirror-controller.ts'
import type { ControllerSettings, WatchMethod } from '../../src/sync/continuous/mirror-watch.ts'
import { ServiceConnection } from '../../src/sync/continuous/service-connection.ts'
import type { Engine, MirrorSettings } from '../../src/sync/engine.ts'

const MAX_WAIT_MS = 45_000

/** A watcher that reports only the `events` of a test; `watched` are the directories it was given. */
export interface ManualWatch {
  readonly means: WatchMethod
  readonly watched: Set<string>
  isLimited: boolean
  hasStopped: boolean
  events: WatchEvents
}

export function manualWatch(): ManualWatch {
  const watched = new Set<string>()
  const nothing = { onHint() {}, onLost() {}, onLimit() {} }
  const add = (directories: readonly string[]) => {
    const fresh = watch.isLimited ? [] : directories.filter((path) => !watched.has(path))
    for (const path of fresh) watched.add(path)
    return fresh
  }
  const keepOnly = (kept: ReadonlySet<string>) => {
    for (const path of watched) if (!kept.has(path)) watched.delete(path)
  }
  const watcher = (): TreeWatcher => ({
    add,
    keepOnly,
    get isLimited() {
      return watch.isLimited
    },
    delayMs: 0,
    get hasStopped() {
      return watch.hasStopped
    },
    [Symbol.asyncDispose]: async () => watched.clear(),
  })
  const watch: ManualWatch = {
    watched,
    isLimited: false,
    hasStopped: false,
    events: nothing,
    means: {
      choose: () => ({ backEnd: 'node', reason: 'by hand' }),
      watch: async (_, __, events) => {
        watch.events = events
        return watcher()
      },
    },
  }
  return watch
}

/** Settles quickly, and scans only when something calls for it. */
export function controllerSettings(
  mirror: MirrorSettings,
  watch: WatchMethod | null,
  intervals: Partial<ControllerSettings['scanIntervals']> = {},
): ControllerSettings {
  const calm = { rescanMs: null, pollIntervalMs: 3_600_000, settleMs: 30 }
  return { mirror, watch, scanIntervals: { ...calm, ...intervals }, runSpanMs: 3_600_000 }
}

export interface Kept {
  readonly controller: MirrorController
  readonly connection: ServiceConnection
  /** What would have stopped the daemon. */
  readonly fatal: readonly unknown[]
  readonly stop: () => Promise<void>
}

/** Starts a controller as the daemon does; it ends with the test at the latest. */
export function startController(given: Engine, settings: ControllerSettings): Kept {
  const stopping = new AbortController()
  const engine = { ...given, signal: AbortSignal.any([given.signal, stopping.signal]) }
  const fatal: unknown[] = []
  const onFatal = (error: unknown) => {
    fatal.push(error)
  }
  const connection = new ServiceConnection(engine, { onFatal, onChange: () => controller.connectionChanged() })
  const controller = new MirrorController(engine, connection, settings)
  const running = controller.run().catch(onFatal)
  const stop = async () => {
    stopping.abort(new InterruptedError())
    await running
    await connection.close()
  }
  onTestFinished(stop)
  return { controller, connection, fatal, stop }
}

/** Asks again and again, for at most 45 seconds. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + MAX_WAIT_MS
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`Waited in vain for: ${what}`)
    await sleep(5)
  }
}

/** Lets all pending callbacks run, also those that others schedule. */
export async function turnsOfTheLoop(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A first run has ended well, and nothing is left to do. */
export function isIdle({ controller }: Kept): boolean {
  const { state, lastSuccessAt, settling } = controller.status
  return state === 'idle' && lastSuccessAt !== null && settling === 0
}
