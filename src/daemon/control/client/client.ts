import { once } from 'node:events'
import { createConnection } from 'node:net'
import { z } from 'zod'
import { ShelfdError } from '../../../foundation/errors.ts'
import { errorOf, faultOf } from '../../../foundation/http/fault.ts'
import type { OutageListener } from '../../../remote/policies/outage.ts'
import { daemonStatus } from '../../../sync/continuous/controller-status.ts'
import type { Progress } from '../../../sync/progress.ts'
import type { Failures } from '../../../sync/quarantine.ts'
import type { RunResult } from '../../../sync/run/run-sync.ts'
import type { FileLog } from '../../../sync/sinks.ts'
import {
  type ControlHandlers,
  failureCount,
  type RunResponse,
  reloaded,
  type SyncRequest,
  syncLine,
} from '../protocol.ts'
import { ask, askLines, hasEnded } from './ask.ts'

export interface DaemonClient extends Omit<ControlHandlers, 'sync'> {
  /** An abort of `signal` stops the run, which returns its result. */
  sync(request: SyncRequest, run: ClientRun): Promise<RunResult>
}

/** The status needs no request to the service, so a slower daemon is stopped or overloaded. */
const STATUS_WITHIN_MS = 3_000

/** Undefined when no daemon listens. */
export async function openClient(socketPath: string): Promise<DaemonClient | undefined> {
  try {
    const socket = createConnection(socketPath)
    await once(socket, 'connect')
    socket.destroy()
  } catch {
    return undefined
  }
  return clientOf(socketPath)
}

function clientOf(socketPath: string): DaemonClient {
  const post = <T>(shape: z.ZodType<T>, path: string, input: object = {}) =>
    ask(shape, { socketPath, method: 'POST', path, input })
  return {
    status: () => ask(daemonStatus, { socketPath, method: 'GET', path: '/v1/status', aliveWithinMs: STATUS_WITHIN_MS }),
    sync: (request, run) => syncInDaemon(socketPath, request, run),
    pause: (names) => post(z.undefined(), '/v1/pause', { names }),
    resume: (names) => post(z.undefined(), '/v1/resume', { names }),
    retry: (failures) => inParts(failures, (part) => post(failureCount, '/v1/retry', part)),
    ignore: (failures) => inParts(failures, (part) => post(failureCount, '/v1/ignore', part)),
    forget: (name) => post(z.string(), '/v1/forget', { name }),
    dashboard: () => post(z.url(), '/v1/dashboard'),
    reload: () => post(reloaded, '/v1/reload'),
  }
}

/** A request of these is far smaller than the largest that the daemon takes. */
const MAX_NUMBERS = 10_000
const MAX_PATHS = 100

/** Several requests, whose answers are added up. */
async function inParts(
  { contentIds, paths }: Failures,
  send: (part: Partial<Failures>) => Promise<number>,
): Promise<number> {
  let sum = 0
  for (let at = 0; at < contentIds.length; at += MAX_NUMBERS)
    sum += await send({ contentIds: contentIds.slice(at, at + MAX_NUMBERS) })
  for (let at = 0; at < paths.length; at += MAX_PATHS) sum += await send({ paths: paths.slice(at, at + MAX_PATHS) })
  return sum
}

interface ClientRun {
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly fileLog: FileLog
  readonly onOutage?: OutageListener | undefined
}

/** A busy daemon may take long to stop a sync. */
const MAX_TIMER_MS = 2 ** 31 - 1

async function syncInDaemon(socketPath: string, input: SyncRequest, run: ClientRun): Promise<RunResult> {
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
    const request = { socketPath, method: 'POST', path: '/v1/syncs/stop', input, aliveWithinMs: MAX_TIMER_MS } as const
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
