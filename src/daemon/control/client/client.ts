import { once } from 'node:events'
import { createConnection } from 'node:net'
import { z } from 'zod'
import { daemonStatus } from '../../../sync/continuous/controller-status.ts'
import type { RunResult } from '../../../sync/run/run-sync.ts'
import {
  type ControlHandlers,
  contentCount,
  type LibraryAccess,
  libraryAccess,
  reloaded,
  type SyncRequest,
} from '../protocol.ts'
import { ask } from './ask.ts'
import type { ClientRun } from './sync-client.ts'

/** The requests of commands to the daemon; each method rethrows the daemon's error in its class. */
export interface DaemonClient extends Omit<ControlHandlers, 'sync' | 'library'> {
  /** Updates `progress` and reports files to `fileLog`; when `signal` is aborted, the run stops and returns its result. */
  sync(request: SyncRequest, run: ClientRun): Promise<RunResult>
  /** Null when the daemon runs no embedded library with this data directory. */
  library(dataDir: string): Promise<LibraryAccess | null>
}

/** The daemon knows its status without asking the service; if it takes longer, it is stopped or overloaded. */
const STATUS_WITHIN_MS = 3_000

/** Returns a client of the daemon that listens at `socketPath`; undefined when none does. */
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
    sync: async (request, run) => {
      // Loaded on demand, since most commands do not need it.
      const { syncInDaemon } = await import('./sync-client.ts')
      return syncInDaemon(socketPath, request, run)
    },
    pause: (names) => post(z.undefined(), '/v1/pause', { names }),
    resume: (names) => post(z.undefined(), '/v1/resume', { names }),
    retry: (contentIds) => post(contentCount, '/v1/retry', { contentIds }),
    ignore: (contentIds) => post(contentCount, '/v1/ignore', { contentIds }),
    forget: (name) => post(z.string(), '/v1/forget', { name }),
    library: (dataDir) => post(libraryAccess.nullable(), '/v1/library', { service: dataDir }),
    dashboard: () => post(z.url(), '/v1/dashboard'),
    reload: () => post(reloaded, '/v1/reload'),
  }
}
