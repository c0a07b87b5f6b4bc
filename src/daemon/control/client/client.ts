import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { messageOf, ShelfdError, systemCodeOf, TemporaryError } from '../../../foundation/errors.ts'
import { errorOf, faultBody, faultOf } from '../../../foundation/http/fault.ts'
import { openRequest } from '../../../foundation/http/node-http.ts'
import { parseJson } from '../../../foundation/text/parse-json.ts'
import type { OutageListener } from '../../../remote/policies/outage.ts'
import { daemonStatus } from '../../../sync/continuous/controller-status.ts'
import type { Failures } from '../../../sync/operator/quarantine.ts'
import type { Progress } from '../../../sync/progress.ts'
import type { RunResult } from '../../../sync/run/run-sync.ts'
import type { FileLog } from '../../../sync/sinks.ts'
import {
  type ControlHandlers,
  failureCount,
  recordedContents,
  reloaded,
  runResponse,
  type SyncRequest,
  syncState,
} from '../protocol.ts'

export interface DaemonClient extends Omit<ControlHandlers, 'sync'> {
  /** Aborting `signal` stops the run, which still returns its result. */
  sync(request: Omit<SyncRequest, 'sync'>, run: ClientRun): Promise<RunResult>
}

/** The status needs no request to the service, so a daemon that takes longer is suspended or overloaded. */
const STATUS_WITHIN_MS = 3_000

/** Returns undefined if no daemon listens. */
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
    recordRemoval: (removal) => post(recordedContents, '/v1/removal', removal),
    forget: (name) => post(z.string(), '/v1/forget', { name }),
    dashboard: () => post(z.url(), '/v1/dashboard'),
    reload: () => post(reloaded, '/v1/reload'),
  }
}

/** A request with this many numbers or paths is far smaller than the largest that the daemon accepts. */
const MAX_NUMBERS = 10_000
const MAX_PATHS = 100

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

const FOLLOW_INTERVAL_MS = 500

async function syncInDaemon(socketPath: string, asked: Omit<SyncRequest, 'sync'>, run: ClientRun): Promise<RunResult> {
  const { signal, progress, fileLog, onOutage } = run
  signal.throwIfAborted()
  const sync = randomUUID()
  const post = <T>(shape: z.ZodType<T>, path: string, input: object) =>
    ask(shape, { socketPath, method: 'POST', path, input: { ...input, sync } })
  const follow = async () => {
    const stop = signal.aborted ? { stop: faultOf(signal.reason) } : {}
    // If this fails, the answer to the sync says why; a busy daemon is asked again.
    const state = await post(syncState, '/v1/syncs/follow', stop).catch(() => undefined)
    if (!state) return
    if (state.progress.outage !== null || progress.outage !== null) onOutage?.(state.progress.outage)
    Object.assign(progress, state.progress)
    for (const file of state.sent) fileLog.sent(file)
  }
  const ended = new AbortController()
  const answer = post(runResponse, '/v1/syncs', asked).finally(() => ended.abort())
  answer.catch(() => {})
  const woken = AbortSignal.any([signal, ended.signal])
  while (!ended.signal.aborted) {
    const waits = sleep(FOLLOW_INTERVAL_MS, undefined, { signal: signal.aborted ? ended.signal : woken })
    await waits.catch(() => {})
    if (!ended.signal.aborted) await follow()
  }
  const { sent, failure, ...result } = await answer
  for (const file of sent) fileLog.sent(file)
  const error = failure === null ? undefined : errorOf(failure)
  if (error && !(error instanceof ShelfdError)) throw error
  return { ...result, failure: error }
}

interface DaemonRequest {
  readonly socketPath: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly input?: object
  /** The daemon must accept the request in this time; the response may take any time. */
  readonly aliveWithinMs?: number | undefined
}

/** Large, because the result of a run names every problem. */
const MAX_CHARACTERS = 64 * 1024 * 1024
const ALIVE_WITHIN_MS = 10_000

/** Returns the daemon's answer; undefined for an empty one. Throws the daemon's error with its class. */
async function ask<T>(shape: z.ZodType<T>, request: DaemonRequest): Promise<T> {
  return readAs(shape, await openResponse(request))
}

/** Sends the body only after `100 Continue`, so that a suspended daemon is noticed soon and has received nothing. */
async function openResponse(request: DaemonRequest): Promise<IncomingMessage> {
  const { socketPath, method, path, input, aliveWithinMs = ALIVE_WITHIN_MS } = request
  const body = input === undefined ? '' : JSON.stringify(input)
  const headers = { expect: '100-continue', 'content-length': Buffer.byteLength(body) }
  const outgoing = openRequest({ createConnection: () => createConnection(socketPath), method, path, headers })
  const timer = setTimeout(() => outgoing.destroy(silentDaemon(aliveWithinMs)), aliveWithinMs)
  // Whoever reads the answer gets its errors. Without this listener, an error after that would end the process.
  outgoing.on('error', () => {})
  outgoing.once('continue', () => {
    clearTimeout(timer)
    outgoing.end(body)
  })
  outgoing.flushHeaders()
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).once('error', reject)
    })
    if (answer.statusCode !== 200 && answer.statusCode !== 204) throw errorOf((await readAs(faultBody, answer)).error)
    return answer
  } catch (error) {
    throw explain(error)
  } finally {
    clearTimeout(timer)
  }
}

async function readAs<T>(shape: z.ZodType<T>, answer: IncomingMessage): Promise<T> {
  let text = ''
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk
      if (text.length > MAX_CHARACTERS) throw unreadableAnswer()
    }
  } catch (error) {
    throw explain(error)
  }
  const { success, data } = shape.safeParse(parseJson(text))
  if (!success) throw unreadableAnswer()
  return data
}

function explain(error: unknown): unknown {
  if (error instanceof ShelfdError) return error
  const code = systemCodeOf(error)
  if (code === undefined) return error
  return code.startsWith('HPE_') ? unreadableAnswer() : endedDaemon(error)
}

function unreadableAnswer(): TemporaryError {
  const text = 'Cannot read the answer of the daemon: it runs another version of shelfd; restart it'
  return new TemporaryError('answer-malformed', text)
}

function silentDaemon(withinMs: number): TemporaryError {
  const text = `The daemon gave no answer within ${withinMs / 1_000} s: its process is suspended, or the machine is overloaded`
  return new TemporaryError('answer-late', text)
}

function endedDaemon(error?: unknown): TemporaryError {
  const why = error === undefined ? '' : ` (${messageOf(error)})`
  return new TemporaryError('service-unreachable', `The daemon ended before it answered${why}; run the command again`)
}
