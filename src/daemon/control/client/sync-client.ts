import { z } from 'zod'
import { ShelfdError } from '../../../foundation/errors.ts'
import { errorOf, faultOf } from '../../../foundation/http/fault.ts'
import type { OutageListener } from '../../../remote/policies/outage.ts'
import type { Progress } from '../../../sync/progress.ts'
import type { RunResult } from '../../../sync/run/run-sync.ts'
import type { FileLog } from '../../../sync/sinks.ts'
import { type RunResponse, type SyncRequest, syncLine } from '../protocol.ts'
import { ask, askLines, hasEnded } from './ask.ts'

export interface ClientRun {
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly fileLog: FileLog
  readonly onOutage?: OutageListener | undefined
}

/** The longest delay of a timer, because a busy daemon may take long to handle the stop request. */
const PATIENCE_MS = 2 ** 31 - 1

/** Implements `DaemonClient.sync`. */
export async function syncInDaemon(socketPath: string, input: SyncRequest, run: ClientRun): Promise<RunResult> {
  const { signal, progress, fileLog, onOutage } = run
  signal.throwIfAborted()
  const lines = askLines(syncLine, { socketPath, method: 'POST', path: '/v1/syncs', input })
  using stopping = new DisposableStack()
  for await (const line of lines) {
    switch (line.kind) {
      case 'started':
        stopping.use(stopOnAbort(socketPath, line.sync, signal))
        break
      case 'progress':
        if (line.progress.outage !== null || progress.outage !== null) onOutage?.(line.progress.outage)
        Object.assign(progress, line.progress)
        break
      case 'sent':
        fileLog.sent(line.file)
        break
      case 'result':
        return toResult(line.result)
      case 'error':
        throw errorOf(line.error)
    }
  }
  throw hasEnded()
}

function stopOnAbort(socketPath: string, sync: string, signal: AbortSignal): Disposable {
  const stop = () => {
    const input = { sync, reason: faultOf(signal.reason) }
    const request = { socketPath, method: 'POST', path: '/v1/syncs/stop', input, aliveWithinMs: PATIENCE_MS } as const
    // Fails when the sync is over or the daemon has ended; the reader of the sync's lines learns both.
    ask(z.undefined(), request).catch(() => {})
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', stop) }
}

function toResult({ summary, outcome, failure }: RunResponse): RunResult {
  const error = failure === null ? undefined : errorOf(failure)
  if (error && !(error instanceof ShelfdError)) throw error
  return { summary, outcome, failure: error }
}
