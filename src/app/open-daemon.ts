import PQueue from 'p-queue'
import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import { removeSocketFile } from '../daemon/control/socket-file.ts'
import { type Figures, FleetFigures } from '../daemon/fleet-metrics.ts'
import { createMetrics, type Metrics } from '../daemon/metrics.ts'
import { type DaemonPlan, type HealthAddress, runDaemon } from '../daemon/run-and-reload.ts'
import type { SupervisorPlan } from '../daemon/supervisor.ts'
import { withoutRepeats } from '../daemon/without-repeats.ts'
import { systemClock } from '../foundation/clock.ts'
import { messageOf, UsageError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { HOUR_MS } from '../foundation/text/times.ts'
import { version } from '../foundation/version.ts'
import type { HostOrder } from '../ledger/ledger.ts'
import { systemWatch } from '../local/watch/open-tree-watcher.ts'
import { DEFAULT_RETRY } from '../rules/retry-delay.ts'
import { openStore, type Store } from '../store/open-store.ts'
import type { ControllerSettings } from '../sync/continuous/mirror-watch.ts'
import { openStateReader, type StateReader } from '../sync/reading/state-reader.ts'
import { walkByThreads } from '../sync/scan/walk-by-checkers.ts'
import { isUnderSystemd, recordRecent } from './create-logger.ts'
import { dashboardSources } from './dashboard-sources.ts'
import { createCachingReader, type ReadTextFile } from './files/private-files.ts'
import { mirrorActions } from './mirror-actions.ts'
import { admitMirrors, assertAnyActive, chooseForDaemon, type PlannedMirror } from './mirrors/choose-mirrors.ts'
import { listForOverview } from './mirrors/mirror-roster.ts'
import { planNotices } from './notify/channels.ts'
import { composeEngine } from './open-engine.ts'
import { type HostDuties, openFleet } from './open-fleet.ts'
import { serviceNameOf } from './open-runner.ts'
import type { OpenServiceInput } from './service-client/open-service.ts'
import { describeChanges } from './settings/describe-changes.ts'
import type { ExplainedSettings } from './settings/explain-settings.ts'
import type { Settings } from './settings/settings.ts'

export interface OpenDaemonInput extends OpenServiceInput {
  /** Reads the configuration anew; throws UsageError. */
  readSettings(readFile?: ReadTextFile): Settings
  /** Reads the configuration anew, and returns each value with its origin. */
  explainSettings(readFile?: ReadTextFile): ExplainedSettings
  readonly onHangup: ((listener: () => void) => Disposable) | undefined
}

const DAEMON_RETRY = { ...DEFAULT_RETRY, waitsOutRetryAfter: true }
/** How long uploads in flight may take after a request to stop. launchd ends a program after 20 s, unless its definition says otherwise; the other 5 s are for closing the rest. */
const GRACE_MS = 15_000
const DEFAULT_HEALTH: HealthAddress = { host: '127.0.0.1', port: 9847, isRequired: false }
/** The shortest span that counts as one run of a mirror without a schedule. */
const MIN_RUN_SPAN_MS = HOUR_MS

export async function openDaemon(settings: Settings, input: OpenDaemonInput): Promise<void> {
  const { logger: recording, recent } = recordRecent(input.logger, input.redactor.redact)
  const logger = withoutRepeats(recording, systemClock)
  using store = openStore(settings.stateDir)
  await using reader = openStateReader(settings.stateDir)
  removeSocketFile(settings.stateDir)
  let current = settings
  await using figures = new FleetFigures({ clock: systemClock, logger }, () => readFigures(current, input))
  const metrics = createMetrics(reader, version, figures)
  const hostDuties = (planned: Settings) => dutiesOfDaemon(planned, { ...input, logger }, store, reader)
  const planFor = createPlanner(store, { ...input, logger, retry: DAEMON_RETRY }, metrics, hostDuties)
  let explained = input.explainSettings()
  assertAnyActive(settings, { storedMirrors: store.mirrors.list(), home: input.home })
  const plan = planFor(settings)
  const openLibrary = async ({ supervisor }: DaemonPlan, { libraryListen, service }: Settings) => {
    if (libraryListen === 'none') return
    if (service.kind === 'embedded') await supervisor.engine.service.connect(input.signal)
    else logger.warn('library.listen has no effect: a service is configured')
  }
  await openLibrary(plan, settings).catch(async (error: unknown) => {
    await plan.supervisor[Symbol.asyncDispose]()
    throw error
  })
  await runDaemon({
    ...input,
    store,
    logger,
    plan,
    clock: systemClock,
    serviceName: serviceNameOf(settings),
    metrics,
    replan: async (forgotten) => {
      // Both readers must see the same version of the file, which may change at any moment.
      const readFile = createCachingReader()
      const next = input.readSettings(readFile)
      const nextExplained = input.explainSettings(readFile)
      await assertLibraryCanMove(current, next)
      let replanned = planFor(next, forgotten)
      const takeOver = () => {
        current = next
        explained = nextExplained
        openLibrary(replanned, next).catch((error: unknown) => {
          const isWanted = current === next && !input.signal.aborted
          if (isWanted) logger.error('the library is not served', { reason: messageOf(error) })
        })
      }
      const planWithAll = () => {
        replanned = planFor(next)
        return replanned
      }
      return { plan: replanned, changes: describeChanges(current, next), takeOver, planWithAll }
    },
    openDashboard: async (service) => {
      const { startDashboard } = await import('../dashboard/start-dashboard.ts')
      const sources = dashboardSources({
        ...input,
        logger,
        service,
        reader,
        stateDir: settings.stateDir,
        log: recent,
        settings: () => current,
        explainSettings: () => explained,
        storedMirrors: () => store.mirrors.list(),
      })
      return startDashboard(sources, logger)
    },
  })
}

/** Reads the figures of the fleet from the ledger, over a new connection. */
async function readFigures({ fleet }: Settings, input: OpenDaemonInput): Promise<Figures> {
  if (!fleet) throw new Error('This host shares no ledger')
  await using view = await openFleet(fleet, input)
  return { hosts: await view.listHosts(), totals: await view.readTotals() }
}

/** Throws UsageError if the library could not be served at the new address. */
async function assertLibraryCanMove(current: Settings, { libraryListen, service }: Settings): Promise<void> {
  if (libraryListen === 'none' || service.kind !== 'embedded') return
  const isOurs = current.service.kind === 'embedded' && current.libraryListen !== 'none'
  if (isOurs && current.libraryListen.port === libraryListen.port) return
  const { assertFree } = await import('../embedded/server/listening.ts')
  await assertFree(libraryListen.host, libraryListen.port)
}

/** Returns a function that plans what the daemon does with these settings; `forgotten` names a mirror to leave out. */
function createPlanner(
  store: Store,
  input: OpenDaemonInput,
  metrics: Metrics,
  hostDuties: (settings: Settings) => HostDuties,
) {
  const { signal, home, logger } = input
  const planSupervisor = (settings: Settings, mirrors: readonly PlannedMirror[]): SupervisorPlan => {
    const controller = new AbortController()
    const composed = composeEngine(settings, {
      ...input,
      store,
      // A slow disk of one mirror must not delay the others.
      startWalk: walkByThreads(settings.limits.checkers),
      metrics,
      onRequest: metrics.observeRequest,
      onLedgerCall: metrics.observeLedgerCall,
      signal: AbortSignal.any([signal, controller.signal]),
      endSignal: signal,
      graceMs: GRACE_MS,
      isLongLived: true,
      hostDuties: hostDuties(settings),
    })
    return {
      engine: composed.engine,
      abort: (reason) => controller.abort(reason),
      timeZone: settings.timeZone,
      maintenance: settings.maintenance,
      admit: (asked) => admitMirrors(settings, asked, mirrors, { storedMirrors: store.mirrors.list(), home }),
      mirrors: mirrors.map((mirror) => {
        const { schedule = null, maxDurationMs } = mirror
        return { controller: controllerSettings(mirror, logger), schedule, maxDurationMs }
      }),
      [Symbol.asyncDispose]: () => composed[Symbol.asyncDispose](),
    }
  }
  return (settings: Settings, forgotten?: string): DaemonPlan => {
    const storedMirrors = store.mirrors.list().filter(({ name }) => name !== forgotten)
    const { mirrors, passedOver } = chooseForDaemon(settings, { storedMirrors, home })
    return {
      supervisor: planSupervisor(settings, mirrors),
      health: healthOf(settings, input.env),
      notices: planNotices(settings.notify, input),
      passedOver,
    }
  }
}

function controllerSettings(mirror: PlannedMirror, logger: Logger): ControllerSettings {
  const { watch, watcher, settleMs, rescanMs, pollIntervalMs } = mirror
  return {
    mirror,
    watch: watch ? systemWatch(watcher, pollIntervalMs, systemClock, logger) : null,
    scanIntervals: { rescanMs, pollIntervalMs, settleMs },
    runSpanMs: Math.max(rescanMs ?? 0, MIN_RUN_SPAN_MS),
  }
}

function healthOf({ healthListen }: Settings, env: OpenDaemonInput['env']): HealthAddress | null {
  if (healthListen === 'none') return null
  if (healthListen !== 'auto') return { ...healthListen, isRequired: true }
  return isUnderSystemd(env) ? DEFAULT_HEALTH : null
}

const ORDERS_AT_ONCE = 4

/** Returns the functions that publish the state of this daemon's mirrors, and that carry out orders of other hosts. */
function dutiesOfDaemon(settings: Settings, input: OpenServiceInput, store: Store, reader: StateReader): HostDuties {
  const { stateDir, fleet } = settings
  const { logger, signal } = input
  const actions = mirrorActions({ ...input, stateDir, settings: () => settings })
  const underWay = new Set<string>()
  const syncQueue = new PQueue({ concurrency: ORDERS_AT_ONCE })
  const carryOut = async ({ kind, mirror }: HostOrder) => {
    logger.info('carrying out an order from another host', { order: kind, mirror: mirror ?? 'all' })
    const names = mirror === null ? [] : [mirror]
    const listed = listForOverview(settings, store.mirrors.list())
    // An order must name a mirror; the actions would also accept a directory.
    if (mirror !== null && !listed.some(({ name }) => name === mirror))
      throw new UsageError('unknown-mirror', 'this host has no such mirror')
    await (kind === 'sync' ? actions.sync(names, signal) : actions[kind](names))
  }
  return {
    onOrder: (order) => {
      const text = JSON.stringify(order)
      if (underWay.has(text)) return
      underWay.add(text)
      const run = async () => {
        try {
          if (!signal.aborted) await carryOut(order)
        } catch (error) {
          if (signal.aborted) return
          const fields = { order: order.kind, mirror: order.mirror ?? 'all', reason: messageOf(error) }
          logger.warn('cannot carry out an order from another host', fields)
        } finally {
          underWay.delete(text)
        }
      }
      // A pause must not wait until a sync has ended.
      void (order.kind === 'sync' ? syncQueue.add(run) : run())
    },
    readPublished: async () => {
      const daemon = await connectToDaemon(stateDir)
      return reader.read('published', {
        daemon: (await daemon?.status()) ?? null,
        listed: listForOverview(settings, store.mirrors.list()),
        nowMs: systemClock.nowMs(),
        namesPaths: fleet?.publish === 'names',
      })
    },
  }
}
