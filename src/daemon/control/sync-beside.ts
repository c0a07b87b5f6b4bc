import PQueue from 'p-queue'
import { ActivityLog } from '../../sync/continuous/activity-log.ts'
import { type RunResult, runSync } from '../../sync/run/run-sync.ts'
import { walkByThreads } from '../../sync/scan/walk-in-threads.ts'
import type { FileLog } from '../../sync/sinks.ts'
import type { Supervisor } from '../supervisor.ts'
import { CLIENT_LOG_MESSAGES } from './client-log-messages.ts'
import type { SyncRun } from './handlers.ts'
import type { SyncRequest } from './requests.ts'

/** Runs a client's sync over the supervisor's connection and store; controllers of the same mirrors wait meanwhile. */
export async function syncBeside(
  supervisor: Supervisor,
  request: SyncRequest,
  { signal, progress, fileLog }: SyncRun,
): Promise<RunResult> {
  const { controllers, engine, connection, plan } = supervisor
  const { limits, options, namesFiles } = request
  const mirrors = plan.admit(request.mirrors)
  await using quiesced = new AsyncDisposableStack()
  for (const { name } of mirrors) {
    const controller = controllers.find((candidate) => candidate.name === name)
    if (controller) quiesced.use(await controller.quiesce())
    const row = engine.store.mirrors.findByName(name)
    if (row) connection.follower?.remove(row.id)
  }
  using _outages = engine.service.onOutage((outage) => {
    progress.outage = outage
  })
  const names = mirrors.map(({ name }) => name)
  engine.logger.info(CLIENT_LOG_MESSAGES.beginSync, { mirrors: names })
  const activity = new Map(names.map((name) => [name, new ActivityLog(engine, name)]))
  const run = {
    ...engine,
    startWalk: walkByThreads(limits.checkers),
    limits,
    uploads: new PQueue({ concurrency: limits.transfers }),
    progress,
    fileLog: logToBoth(activity, namesFiles ? fileLog : undefined),
    signal: AbortSignal.any([engine.signal, signal]),
  }
  const result = await runSync(run, mirrors, options)
  const { summary, outcome } = result
  for (const mirror of summary.mirrors) activity.get(mirror.name)?.add(mirror)
  engine.logger.info(CLIENT_LOG_MESSAGES.endSync, { mirrors: names, outcome, afterMs: summary.durationMs })
  return result
}

function logToBoth(activity: ReadonlyMap<string, ActivityLog>, client: FileLog | undefined): FileLog {
  return {
    wouldSend() {},
    sent: (file) => {
      activity.get(file.mirror)?.sent(file)
      client?.sent(file)
    },
  }
}
