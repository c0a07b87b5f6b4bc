import { Mutex } from '../../foundation/concurrency/mutex.ts'
import { ActivityLog } from '../../sync/continuous/activity-log.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { pauseMirrors, resumeMirrors } from '../../sync/operator/pause-mirrors.ts'
import { retryFailures, setFailuresAside } from '../../sync/operator/quarantine.ts'
import { recordRemoval } from '../../sync/operator/tidy-library.ts'
import { type RunResult, runSync } from '../../sync/run/run-sync.ts'
import { walkByThreads } from '../../sync/scan/walk-by-checkers.ts'
import type { SentFile } from '../../sync/sinks.ts'
import { openUploadQueues } from '../../sync/upload/parallel-uploads.ts'
import type { Supervisor } from '../supervisor.ts'
import type { ControlHandlers, SyncRequest, SyncRun } from './protocol.ts'

interface Daemon extends Pick<ControlHandlers, 'forget' | 'dashboard'> {
  supervisor(): Supervisor
  status(): DaemonStatus
  reload(): Promise<void>
}

export const CLIENT_LOG_MESSAGES = {
  beginSync: 'a client began a sync',
  endSync: 'the sync of a client has ended',
  pause: 'a client paused uploads',
  resume: 'a client resumed uploads',
} as const

export function answerClients(daemon: Daemon): ControlHandlers {
  const mutex = new Mutex()
  const changePauses = (change: typeof pauseMirrors, message: string) => async (names: readonly string[]) => {
    const supervisor = daemon.supervisor()
    change(supervisor.engine.store, names)
    supervisor.applyPauses()
    supervisor.engine.logger.info(message, { mirrors: names.length === 0 ? 'all' : names })
  }
  return {
    status: async () => daemon.status(),
    sync: async (request, run) => {
      run.progress.phase = 'turn'
      using _lock = await mutex.lock(run.signal)
      run.progress.phase = 'starting'
      const supervisor = daemon.supervisor()
      return await supervisor.host(() => runClientSync(supervisor, request, run))
    },
    pause: changePauses(pauseMirrors, CLIENT_LOG_MESSAGES.pause),
    resume: changePauses(resumeMirrors, CLIENT_LOG_MESSAGES.resume),
    retry: async (failures) => {
      const supervisor = daemon.supervisor()
      const count = retryFailures(supervisor.engine.store, failures)
      for (const controller of supervisor.controllers) controller.wake()
      return count
    },
    ignore: async (failures) => setFailuresAside(daemon.supervisor().engine.store, failures),
    recordRemoval: async (removal) => recordRemoval(daemon.supervisor().engine.store, removal),
    forget: daemon.forget,
    dashboard: daemon.dashboard,
    reload: async () => {
      await daemon.reload()
      return { mirrors: daemon.supervisor().controllers.map(({ name }) => name) }
    },
  }
}

/** Runs a client's sync with the supervisor's connection and store; controllers of the same mirrors wait meanwhile. */
async function runClientSync(
  supervisor: Supervisor,
  request: SyncRequest,
  { signal, progress, fileLog }: SyncRun,
): Promise<RunResult> {
  const { controllers, engine, connection, plan } = supervisor
  const { limits, options } = request
  const mirrors = plan.admit(request.mirrors)
  using _outages = engine.service.onOutage((outage) => {
    progress.outage = outage
  })
  await using quiesced = new AsyncDisposableStack()
  for (const { name } of mirrors) {
    const controller = controllers.find((candidate) => candidate.name === name)
    if (controller) quiesced.use(await controller.quiesce())
    const row = engine.store.mirrors.findByName(name)
    if (row) connection.follower?.remove(row.id)
  }
  const names = mirrors.map(({ name }) => name)
  engine.logger.info(CLIENT_LOG_MESSAGES.beginSync, { mirrors: names })
  const activity = new Map(names.map((name) => [name, new ActivityLog(engine, name)]))
  const run = {
    ...engine,
    startWalk: walkByThreads(limits.checkers),
    limits,
    ...openUploadQueues(limits.transfers, engine.service),
    progress,
    fileLog: {
      ...fileLog,
      sent: (file: SentFile) => {
        activity.get(file.mirror)?.sent(file)
        fileLog.sent(file)
      },
    },
    signal: AbortSignal.any([engine.signal, signal]),
  }
  const result = await runSync(run, mirrors, options)
  const { summary, outcome } = result
  for (const mirror of summary.mirrors) activity.get(mirror.name)?.add(mirror)
  engine.logger.info(CLIENT_LOG_MESSAGES.endSync, { mirrors: names, outcome, afterMs: summary.durationMs })
  return result
}
