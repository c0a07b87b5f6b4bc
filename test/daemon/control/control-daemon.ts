import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { DaemonClient } from '../../../src/daemon/control/client/client.ts'
import { connectToDaemon } from '../../../src/daemon/control/client/connect-to-daemon.ts'
import type { ControlHandlers, SyncRequest } from '../../../src/daemon/control/protocol.ts'
import { type ControlServer, type ControlServerInput, startControlServer } from '../../../src/daemon/control/server.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { emptySummary } from '../../../src/rules/sync-summary.ts'
import { CAREFUL_PASS } from '../../../src/sync/pass.ts'
import type { RunResult } from '../../../src/sync/run/run-sync.ts'
import { daemonMirrorStatus, daemonStatus } from '../../support/daemon.ts'

const SERVICE = 'https://library.example.com'

export const someStatus = daemonStatus({
  mirrors: [
    daemonMirrorStatus({ state: 'halted', reason: { code: 'root-missing', message: 'gone' }, lastSuccessAt: null }),
  ],
})

export const syncRequest: SyncRequest = {
  sync: 'one',
  service: SERVICE,
  mirrors: [],
  limits: { transfers: 4, checkers: 2, inIngestion: 200, newPerRun: null, newPerDay: 5, newBytesPerRun: null },
  options: { waitMs: 0, ...CAREFUL_PASS },
}

/** The result of a run over one mirror. */
export function runResult(failure?: RunResult['failure']): RunResult {
  const papers = { name: 'papers', path: '/papers', library: { id: null, name: 'Papers' }, remotePath: '/Papers' }
  const at = '2026-11-21T12:00:00.000Z'
  const times = { startedAt: at, finishedAt: at, durationMs: 1 }
  const summary = { run: 7, verdict: 'failed' as const, ...times, mirrors: [emptySummary(papers)] }
  return { summary, outcome: 'failures', failure }
}

/** A control server in this process whose handlers a test replaces as it needs; it ends with the test at the latest. */
export async function startControl(
  stateDir: string,
  handlers: Partial<ControlHandlers> = {},
  env: Readonly<Record<string, string>> = {},
  more: Partial<ControlServerInput> = {},
): Promise<ControlServer> {
  const server = await startControlServer({
    stateDir,
    env,
    service: SERVICE,
    handlers: { ...defaults, ...handlers },
    logger: silentLogger,
    ...more,
  })
  let isClosed = false
  const close = async () => {
    if (!isClosed) await server[Symbol.asyncDispose]()
    isClosed = true
  }
  onTestFinished(close)
  return { path: server.path, [Symbol.asyncDispose]: close }
}

/** A client of the daemon that must be there. */
export async function clientOf(stateDir: string): Promise<DaemonClient> {
  const client = await connectToDaemon(stateDir)
  if (!client) throw new Error('No daemon was found')
  return client
}

/** A raw connection, on which a test may break the protocol. */
export async function openSocket(path: string): Promise<Socket> {
  const socket = createConnection(path)
  await once(socket, 'connect')
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

export interface RawResponse {
  readonly status: number
  /** The JSON of the body; undefined if it is not JSON. */
  readonly body: unknown
}

/** Sends `bytes` as they are. */
export async function sendRaw(path: string, bytes: string): Promise<RawResponse> {
  const socket = await openSocket(path)
  socket.write(bytes)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n', 2)
  return { status: Number(head.split(' ')[1]), body: parseJson(body) }
}

/** A request such as `POST /v1/pause` as it is sent; it announces `length` bytes of body. */
export function rawRequest(route: string, body = '', length = Buffer.byteLength(body)): string {
  return `${route} HTTP/1.1\r\nHost: shelfd\r\nContent-Length: ${length}\r\n\r\n${body}`
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const defaults: ControlHandlers = {
  status: async () => someStatus,
  sync: async () => runResult(),
  pause: async () => {},
  resume: async () => {},
  retry: async ({ contentIds, paths }) => contentIds.length + paths.length,
  ignore: async ({ contentIds, paths }) => contentIds.length + paths.length,
  recordRemoval: async ({ resources }) => resources.map(({ contentId }) => contentId),
  forget: async () => '/copy',
  dashboard: async () => 'http://127.0.0.1:4712/#/sign-in/key',
  reload: async () => ({ mirrors: ['papers'] }),
}
