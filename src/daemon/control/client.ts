import { once } from 'node:events'
import { createConnection } from 'node:net'
import { z } from 'zod'
import { ShelfdError } from '../../foundation/errors.ts'
import type { OutageListener } from '../../remote/policies/outage.ts'
import type { FileLog } from '../../sync/file-log.ts'
import type { Progress } from '../../sync/progress.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import { errorOf, faultOf } from '../http/fault.ts'
import type { DaemonStanding } from '../standing.ts'
import { type LibraryAccess, libraryAccess, type Reloaded, reloaded, type SyncRequest, syncLine } from './protocol.ts'
import { ask, askLines, hasEnded } from './request.ts'
import { contentCount, daemonStanding, type RunAnswer } from './shapes.ts'

interface ClientRun {
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly fileLog: FileLog
  readonly onOutage?: OutageListener | undefined
}

/** What the command line asks of a daemon; each throws what the daemon threw, in its class. */
export interface DaemonClient {
  status(): Promise<DaemonStanding>
  /** `progress` is kept current, `fileLog` told of files; an aborted `signal` stops the run, which then still gives its account. */
  sync(request: SyncRequest, run: ClientRun): Promise<RunResult>
  pause(names: readonly string[]): Promise<void>
  resume(names: readonly string[]): Promise<void>
  retry(contentIds: readonly number[]): Promise<number>
  ignore(contentIds: readonly number[]): Promise<number>
  /** Gives the file with a copy of the store from before. */
  forget(name: string): Promise<string>
  /** Null when the daemon runs no embedded library with this data directory. */
  library(dataDir: string): Promise<LibraryAccess | null>
  reload(): Promise<Reloaded>
}

/** Where it stands is known without asking anybody: a daemon that does not say it is stopped or overwhelmed. */
const STATUS_WITHIN_MS = 3_000
/** The longest that a timer can wait: a busy daemon stops a sync when it comes to it. */
const PATIENCE_MS = 2 ** 31 - 1

/** A client of the daemon that listens there; undefined when nobody does. */
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
    status: () =>
      ask(daemonStanding, { socketPath, method: 'GET', path: '/v1/status', aliveWithinMs: STATUS_WITHIN_MS }),
    sync: (request, run) => sync(socketPath, request, run),
    pause: (names) => post(z.undefined(), '/v1/pause', { names }),
    resume: (names) => post(z.undefined(), '/v1/resume', { names }),
    retry: (contentIds) => post(contentCount, '/v1/retry', { contentIds }),
    ignore: (contentIds) => post(contentCount, '/v1/ignore', { contentIds }),
    forget: (name) => post(z.string(), '/v1/forget', { name }),
    library: (dataDir) => post(libraryAccess.nullable(), '/v1/library', { service: dataDir }),
    reload: () => post(reloaded, '/v1/reload'),
  }
}

async function sync(socketPath: string, input: SyncRequest, run: ClientRun): Promise<RunResult> {
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

/** Tells the daemon to stop the sync, and why, when `signal` is aborted. */
function stopOnAbort(socketPath: string, sync: string, signal: AbortSignal): Disposable {
  const stop = () => {
    const input = { sync, reason: faultOf(signal.reason) }
    const request = { socketPath, method: 'POST', path: '/v1/syncs/stop', input, aliveWithinMs: PATIENCE_MS } as const
    // The sync is over, or its daemon is gone: whoever reads its account learns that.
    ask(z.undefined(), request).catch(() => {})
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', stop) }
}

function toResult({ summary, outcome, failure }: RunAnswer): RunResult {
  const error = failure === null ? undefined : errorOf(failure)
  if (error && !(error instanceof ShelfdError)) throw error
  return { summary, outcome, failure: error }
}
