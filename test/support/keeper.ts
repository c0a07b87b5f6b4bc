/** One keeper in this process, whose watcher hears only what a test says. */
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { InterruptedError } from '../../src/foundation/errors.ts'
import type { TreeWatcher } from '../../src/local/watch/tree-watcher.ts'
import type { ControllerSettings } from '../../src/sync/continuous/controller-settings.ts'
import { MirrorController } from '../../src/sync/continuous/mirror-controller.ts'
import type { WatchListener, WatchMeans } from '../../src/sync/continuous/mirror-watch.ts'
import { ServiceConnection } from '../../src/sync/continuous/service-connection.ts'
import type { Engine, MirrorSettings } from '../../src/sync/engine.ts'

const LONGEST_WAIT_MS = 20_000

/** A watcher that is deaf but for its `events`; `watched` are the directories it was given. */
export interface HandWatch {
  readonly means: WatchMeans
  readonly watched: Set<string>
  isLimited: boolean
  hasStopped: boolean
  events: WatchListener
}

export function handWatch(): HandWatch {
  const watched = new Set<string>()
  const nothing = { onHint() {}, onLost() {}, onLimit() {} }
  const add = (directories: readonly string[]) => {
    const fresh = hand.isLimited ? [] : directories.filter((path) => !watched.has(path))
    for (const path of fresh) watched.add(path)
    return fresh
  }
  const keepOnly = (kept: ReadonlySet<string>) => {
    for (const path of watched) if (!kept.has(path)) watched.delete(path)
  }
  const watcher = (): TreeWatcher => ({
    backEnd: 'node',
    add,
    keepOnly,
    get isLimited() {
      return hand.isLimited
    },
    delayMs: 0,
    get hasStopped() {
      return hand.hasStopped
    },
    [Symbol.asyncDispose]: async () => watched.clear(),
  })
  const hand: HandWatch = {
    watched,
    isLimited: false,
    hasStopped: false,
    events: nothing,
    means: {
      choose: () => ({ backEnd: 'node', reason: 'by hand' }),
      watch: async (_, __, events) => {
        hand.events = events
        return watcher()
      },
    },
  }
  return hand
}

/** Settles quickly, and scans only when something calls for it. */
export function keeperSettings(
  mirror: MirrorSettings,
  watch: WatchMeans | null,
  pace: Partial<ControllerSettings['pace']> = {},
): ControllerSettings {
  const calm = { rescanMs: null, pollIntervalMs: 3_600_000, settleMs: 30 }
  return { mirror, watch, pace: { ...calm, ...pace }, runSpanMs: 3_600_000 }
}

export interface Kept {
  readonly keeper: MirrorController
  readonly line: ServiceConnection
  /** What would have stopped the daemon. */
  readonly fatal: readonly unknown[]
  readonly stop: () => Promise<void>
}

/** Starts a keeper as the daemon does; it ends with the test at the latest. */
export function startKeeper(given: Engine, settings: ControllerSettings): Kept {
  const controller = new AbortController()
  const engine = { ...given, signal: AbortSignal.any([given.signal, controller.signal]) }
  const fatal: unknown[] = []
  const onFatal = (error: unknown) => {
    fatal.push(error)
  }
  const line = new ServiceConnection(engine, { onFatal, onChange: () => keeper.connectionChanged() })
  const keeper = new MirrorController(engine, line, settings)
  const running = keeper.run().catch(onFatal)
  const stop = async () => {
    controller.abort(new InterruptedError())
    await running
    await line.close()
  }
  onTestFinished(stop)
  return { keeper, line, fatal, stop }
}

/** Asks again and again, for at most 20 seconds. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + LONGEST_WAIT_MS
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`Waited in vain for: ${what}`)
    await pause(5)
  }
}

/** A first run has ended well, and nothing is left to do. */
export function isQuiet({ keeper }: Kept): boolean {
  const { state, lastSuccessAt, settling } = keeper.status
  return state === 'idle' && lastSuccessAt !== null && settling === 0
}
