import type { DaemonClient } from '../daemon/control/client/client.ts'
import { LockedError } from '../foundation/errors.ts'
import { openStoreCopy } from '../store/open-store.ts'
import type { MirrorRow } from '../store/tables/mirrors.ts'
import type { Engine, MirrorSettings } from '../sync/engine.ts'
import type { PassOptions } from '../sync/pass.ts'
import { createProgress, type Progress } from '../sync/progress.ts'
import type { ReportContext } from '../sync/report/report.ts'
import { type RunResult, runSync } from '../sync/run/run-sync.ts'
import type { FileLog } from '../sync/sinks.ts'
import { byDaemonOrHere } from './ask-daemon.ts'
import { type OpenEngineInput, type OpenedEngine, openEngine, openReader } from './open-engine.ts'
import type { OpenServiceInput } from './service-client/open-service.ts'
import type { SettingFlag } from './settings/overrides.ts'
import type { Settings } from './settings/settings.ts'

/** Runs syncs over a state directory: in this process, or in the daemon that holds it. */
export interface Runner extends AsyncDisposable {
  readonly storedMirrors: readonly MirrorRow[]
  readonly progress: Progress
  /** True if a daemon does the run, and continues when this process ends. */
  readonly isInDaemon: boolean
  readonly ignoredFlags: readonly SettingFlag[]
  run(mirrors: readonly MirrorSettings[], options: PassOptions): Promise<RunResult>
  reportContext(): ReportContext
  /** Undefined if a daemon does the run, because it also embeds. */
  embedFor?: OpenedEngine['embedFor']
}

interface RunnerInput extends OpenServiceInput {
  readonly isDryRun: boolean
  readonly fileLog: FileLog
  readonly beforeUploads?: Engine['beforeUploads']
}

/** Flags that a daemon ignores when its clients have them, because all uploads of the daemon share these limits. */
const SHARED_IN_DAEMON: readonly SettingFlag[] = ['bwlimit', 'requests-per-second', 'retry-for']

/** Throws LockedError if a process that is not a daemon holds the store. */
export async function openRunner(settings: Settings, input: RunnerInput): Promise<Runner> {
  return await byDaemonOrHere<Runner>(
    settings.stateDir,
    (daemon) => openRunnerBesideDaemon(daemon, settings, input),
    () => openLocalRunner(settings, input),
  )
}

/** A dry run ends with a rollback, which would undo the daemon's own writes; so it runs in this process, on a copy of the store. */
function openRunnerBesideDaemon(daemon: DaemonClient, settings: Settings, input: RunnerInput): Runner {
  if (!input.isDryRun) return openDaemonRunner(daemon, settings, input)
  return openLocalRunner(settings, { ...input, store: openStoreCopy(settings.stateDir) })
}

function openLocalRunner(settings: Settings, input: OpenEngineInput): Runner {
  const opened = openEngine(settings, input)
  const { engine } = opened
  return {
    storedMirrors: engine.store.mirrors.list(),
    progress: engine.progress,
    isInDaemon: false,
    ignoredFlags: [],
    run: async (mirrors, options) => {
      using _outages = engine.service.onOutage((outage) => {
        engine.progress.outage = outage
      })
      const result = await runSync(engine, mirrors, options)
      if (!options.isDryRun) await notify(settings, input, engine, result)
      return result
    },
    reportContext: () => opened.reportContext,
    embedFor: opened.embedFor,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** Loads the code of notices only if a channel is configured. */
async function notify({ notify }: Settings, input: OpenEngineInput, engine: Engine, result: RunResult): Promise<void> {
  if (!hasChannels(notify)) return
  const { planNotices, notifyOfRun } = await import('./notify/channels.ts')
  const plan = planNotices(notify, input)
  if (plan) await notifyOfRun(engine, plan, result)
}

function hasChannels({ command, webhooks }: Settings['notify']): boolean {
  return command !== undefined || webhooks.length > 0
}

function openDaemonRunner(daemon: DaemonClient, settings: Settings, input: RunnerInput): Runner {
  const reader = openReader(settings, input)
  const { store } = reader
  // While a daemon starts, the store may not exist yet.
  if (!store)
    throw new LockedError('store-locked', 'Cannot read the state: the daemon is still starting; run the command again')
  const progress = createProgress()
  const { signal, fileLog, onOutage } = input
  const base = { service: serviceNameOf(settings), limits: settings.limits }
  return {
    storedMirrors: store.mirrors.list(),
    progress,
    isInDaemon: true,
    ignoredFlags: SHARED_IN_DAEMON,
    run: (mirrors, options) => {
      return daemon.sync(
        { ...base, mirrors, options: { ...options, isDryRun: false } },
        { signal, progress, fileLog, onOutage },
      )
    },
    reportContext: () => reader.contextFor(store),
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  }
}

/** Returns the origin of the service or the data directory of the library. It must be the same for a daemon and its clients. */
export function serviceNameOf({ service }: Settings): string {
  return service.kind === 'configured' ? service.origin : service.dataDir
}
