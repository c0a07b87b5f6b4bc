import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { z } from 'zod'
import { messageOf, ShelfdError, TemporaryError } from '../../foundation/errors.ts'
import type { OutageListener } from '../../remote/policies/outage.ts'
import type { FileLog } from '../../sync/file-log.ts'
import type { Progress } from '../../sync/progress.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { DaemonStanding } from '../standing.ts'
import { errorOf, faultOf } from './faults.ts'
import { parseLine, readLines, sendLine } from './lines.ts'
import {
  answerLine,
  type ControlRequest,
  type LibraryAccess,
  libraryAccess,
  MAX_ANSWER_BYTES,
  PROTOCOL_VERSION,
  type Reloaded,
  reloaded,
  type SyncRequest,
} from './protocol.ts'
import { contentCount, daemonStanding, progressShape, runAnswer } from './shapes.ts'

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

/** A client of the daemon that listens there; undefined when nobody does. */
export async function openClient(path: string): Promise<DaemonClient | undefined> {
  try {
    const socket = await connect(path)
    socket.destroy()
  } catch {
    return undefined
  }
  return clientOf(path)
}

function clientOf(path: string): DaemonClient {
  const ask = async <T>(shape: z.ZodType<T>, request: ControlRequest) => read(shape, await converse(path, request))
  return {
    status: async () => read(daemonStanding, await converse(path, { kind: 'status' }, { withinMs: STATUS_WITHIN_MS })),
    sync: async (request, { signal, progress, fileLog, onOutage }) => {
      const onProgress = (told: unknown) => {
        const now = read(progressShape, told)
        if (now.outage !== null || progress.outage !== null) onOutage?.(now.outage)
        Object.assign(progress, now)
      }
      const answer = await converse(path, { kind: 'sync', ...request }, { signal, onProgress, fileLog })
      return toResult(read(runAnswer, answer))
    },
    pause: (names) => ask(z.null(), { kind: 'pause', names }).then(() => {}),
    resume: (names) => ask(z.null(), { kind: 'resume', names }).then(() => {}),
    retry: (contentIds) => ask(contentCount, { kind: 'retry', contentIds }),
    ignore: (contentIds) => ask(contentCount, { kind: 'ignore', contentIds }),
    forget: (name) => ask(z.string(), { kind: 'forget', name }),
    library: (dataDir) => ask(libraryAccess.nullable(), { kind: 'library', service: dataDir }),
    reload: () => ask(reloaded, { kind: 'reload' }),
  }
}

/** Where it stands is known without asking anybody: a daemon that does not say it is stopped or overwhelmed. */
const STATUS_WITHIN_MS = 3_000

interface Listening {
  /** Without it the answer is waited for as long as the daemon lives. */
  readonly withinMs?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: unknown) => void
  readonly fileLog?: FileLog
}

/** Asks and gives the result, which the caller checks. */
async function converse(path: string, request: ControlRequest, listening: Listening = {}): Promise<unknown> {
  listening.signal?.throwIfAborted()
  const socket = await connect(path).catch((error) => {
    throw hasEnded(error)
  })
  const stop = () => sendLine(socket, { kind: 'stop', reason: faultOf(listening.signal?.reason) })
  listening.signal?.addEventListener('abort', stop, { once: true })
  const { withinMs } = listening
  const timer = withinMs === undefined ? undefined : setTimeout(() => socket.destroy(isSilent(withinMs)), withinMs)
  try {
    sendLine(socket, { version: PROTOCOL_VERSION, request })
    return await readAnswer(socket, listening)
  } finally {
    clearTimeout(timer)
    listening.signal?.removeEventListener('abort', stop)
    socket.destroy()
  }
}

async function readAnswer(socket: Socket, { onProgress, fileLog }: Listening): Promise<unknown> {
  try {
    for await (const line of readLines(socket, MAX_ANSWER_BYTES)) {
      const answer = read(answerLine, parseLine(line))
      if (answer.kind === 'error') throw errorOf(answer)
      if (answer.kind === 'result') return answer.result
      if (answer.kind === 'sent') fileLog?.sent(answer.file)
      else onProgress?.(answer.progress)
    }
  } catch (error) {
    throw isOfSocket(error) ? hasEnded(error) : error
  }
  throw hasEnded()
}

async function connect(path: string): Promise<Socket> {
  const socket = createConnection(path)
  await once(socket, 'connect')
  // Reading tells of every error as well.
  socket.on('error', () => {})
  return socket
}

function read<T>(shape: z.ZodType<T>, value: unknown): T {
  const { success, data } = shape.safeParse(value)
  if (success) return data
  const text = 'The daemon gave an answer that is not understood: it is of another version of shelfd, restart it'
  throw new TemporaryError('answer-malformed', text)
}

function toResult({ summary, outcome, failure }: z.infer<typeof runAnswer>): RunResult {
  const error = failure === null ? undefined : errorOf(failure)
  if (error && !(error instanceof ShelfdError)) throw error
  return { summary, outcome, failure: error }
}

function isOfSocket(error: unknown): boolean {
  return error instanceof Error && 'code' in error && !(error instanceof ShelfdError)
}

function isSilent(withinMs: number): TemporaryError {
  const text = `The daemon gave no answer within ${withinMs / 1_000} s: it is stopped, or the machine is overloaded`
  return new TemporaryError('answer-late', text)
}

function hasEnded(error?: unknown): TemporaryError {
  const why = error === undefined ? '' : ` (${messageOf(error)})`
  return new TemporaryError('service-unreachable', `The daemon ended before it answered${why}; run it again`)
}
