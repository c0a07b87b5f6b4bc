import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { z } from 'zod'
import {
  AccessError,
  InterruptedError,
  LockedError,
  messageOf,
  RequestError,
  systemCodeOf,
} from '../../foundation/errors.ts'
import { errorOf, type Fault, faultOf } from '../../foundation/http/fault.ts'
import { createHttpServer, type RequestLimits } from '../../foundation/http/http-server.ts'
import {
  jsonResponse,
  type LineWriter,
  parseInput,
  type Route,
  type Routes,
  type StreamedResponse,
} from '../../foundation/http/route.ts'
import type { Logger } from '../../foundation/logger.ts'
import { createProgress, type Progress } from '../../sync/progress.ts'
import type { RunResult } from '../../sync/run/run-sync.ts'
import type { SentFile } from '../../sync/sinks.ts'
import {
  type ControlHandlers,
  failures,
  mirrorName,
  mirrorNames,
  nothing,
  removal,
  type SyncLine,
  type SyncRun,
  stopRequest,
  syncRequest,
} from './protocol.ts'
import { removeSocket, writeSocketPath } from './socket-file.ts'

export interface ControlServerInput {
  /** An origin, or the data directory of the embedded library. */
  readonly service: string
  readonly handlers: ControlHandlers
  /** This process holds its lock, so no other daemon listens for it. */
  readonly stateDir: string
  /** For `RUNTIME_DIRECTORY` and `XDG_RUNTIME_DIR`. */
  readonly env: Environment
  readonly logger: Logger
  readonly limits?: RequestLimits
}

export interface ControlServer extends AsyncDisposable {
  readonly path: string
}

/** The time in which clients may read their last response when the server closes. */
const CLOSING_GRACE_MS = 1_000
const MAX_CONNECTIONS = 64

/** Throws when there is no place for the socket. */
export async function startControlServer(input: ControlServerInput): Promise<ControlServer> {
  const { stateDir, env, logger, limits } = input
  const { path, passedOver } = prepareSocketPlace(stateDir, env)
  for (const reason of passedOver) logger.info('a directory cannot hold the control socket', { reason })
  const syncs = new Syncs()
  const { listen, answered, close } = createHttpServer({
    routes: controlRoutes(input, syncs),
    maxConnections: MAX_CONNECTIONS,
    limits,
    missing: (asked) => {
      const text = `The daemon does not know "${asked}": it runs another version of shelfd; restart it with this one`
      return new LockedError('store-locked', text)
    },
    onError: (error) => {
      logger.debug('control request failed', { reason: messageOf(error) })
      return faultOf(error)
    },
  })
  await listen({ path }, (error) => logger.warn('control socket failed', { reason: messageOf(error) }))
  closeToOthers(path)
  writeSocketPath(stateDir, path)
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      removeSocket(stateDir, path)
      syncs.stopAll(new InterruptedError('The daemon stops'))
      await answered()
      await close(CLOSING_GRACE_MS)
    },
  }
}

/** Raise `v1` with every change that an older client or daemon would misunderstand. */
function controlRoutes({ service, handlers }: ControlServerInput, syncs: Syncs): Routes {
  return {
    'GET /v1/status': route(nothing, () => handlers.status()),
    'POST /v1/syncs': ({ input, signal }) => {
      const request = parseInput(syncRequest, input)
      checkService(request.service, service)
      return syncs.begin((run) => handlers.sync(request, run), signal)
    },
    'POST /v1/syncs/stop': route(stopRequest, async ({ sync, reason }) => syncs.stop(sync, reason)),
    'POST /v1/pause': route(mirrorNames, ({ names }) => handlers.pause(names)),
    'POST /v1/resume': route(mirrorNames, ({ names }) => handlers.resume(names)),
    'POST /v1/retry': route(failures, (named) => handlers.retry(named)),
    'POST /v1/ignore': route(failures, (named) => handlers.ignore(named)),
    'POST /v1/removal': route(removal, (removed) => handlers.recordRemoval(removed)),
    'POST /v1/forget': route(mirrorName, ({ name }) => handlers.forget(name)),
    'POST /v1/dashboard': route(nothing, () => handlers.dashboard()),
    'POST /v1/reload': route(nothing, () => handlers.reload()),
  }
}

function route<T>(shape: z.ZodType<T>, answer: (input: T) => Promise<unknown>): Route {
  return async ({ input }) => jsonResponse(200, await answer(parseInput(shape, input)))
}

/** Throws AccessError `origin-mismatch` if the daemon would send to another service than the client's. */
function checkService(wanted: string, service: string): void {
  if (wanted === service) return
  const text = `The daemon uses the service "${service}", this command "${wanted}"`
  throw new AccessError('origin-mismatch', `${text}; restart the daemon with the same configuration`)
}

const PROGRESS_INTERVAL_MS = 200
const MAX_UNREAD_BYTES = 16 * 2 ** 20

class Syncs {
  readonly #running = new Map<string, AbortController>()
  #begun = 0

  /** `signal`, `stop` and `stopAll` abort the sync, which still writes its result. */
  begin(sync: (run: SyncRun) => Promise<RunResult>, signal: AbortSignal): StreamedResponse {
    return {
      stream: async (lines) => {
        this.#begun += 1
        const id = String(this.#begun)
        const stop = new AbortController()
        this.#running.set(id, stop)
        const write = (line: SyncLine) => lines.write(line)
        write({ kind: 'started', sync: id })
        write(await follow(sync, AbortSignal.any([signal, stop.signal]), lines))
        this.#running.delete(id)
      },
    }
  }

  /** Throws RequestError `not-found` when no such sync is running. */
  stop(id: string, reason: Fault | undefined): void {
    const running = this.#running.get(id)
    if (!running) throw new RequestError('not-found', `No sync "${id}" is running`, 404)
    running.abort(reason ? errorOf(reason) : new InterruptedError('The client asked to stop'))
  }

  stopAll(reason: Error): void {
    for (const running of this.#running.values()) running.abort(reason)
  }
}

async function follow(
  sync: (run: SyncRun) => Promise<RunResult>,
  signal: AbortSignal,
  lines: LineWriter,
): Promise<SyncLine> {
  const progress = createProgress()
  const timer = writeProgress(progress, lines)
  // Nothing is reported while the client does not read, so that memory stays bounded.
  const sent = (file: SentFile) => {
    if (lines.unreadBytes < MAX_UNREAD_BYTES) lines.write({ kind: 'sent', file } satisfies SyncLine)
  }
  try {
    const { summary, outcome, failure } = await sync({ signal, progress, fileLog: { wouldSend() {}, sent } })
    return { kind: 'result', result: { summary, outcome, failure: failure ? faultOf(failure) : null } }
  } catch (error) {
    return { kind: 'error', error: faultOf(error) }
  } finally {
    clearInterval(timer)
  }
}

/** Only changes, once the client has read all previous lines. */
function writeProgress(progress: Progress, lines: LineWriter): NodeJS.Timeout {
  let last = JSON.stringify(progress)
  return setInterval(() => {
    const now = JSON.stringify(progress)
    if (now === last || lines.unreadBytes > 0) return
    last = now
    lines.write({ kind: 'progress', progress } satisfies SyncLine)
  }, PROGRESS_INTERVAL_MS)
}

type Environment = Readonly<Record<string, string | undefined>>

/** `sun_path` has 104 bytes on some systems, the last of them zero. */
const MAX_PATH_BYTES = 103
const NAME_DIGITS = 12

/** `passedOver`: the reasons against better places. */
interface SocketPlace {
  readonly path: string
  readonly passedOver: readonly string[]
}

interface Candidate {
  readonly directory: string
  /** The daemon creates it and closes it to other users. */
  readonly isOwn: boolean
}

/**
 * The first usable of: the runtime directory of the service manager, that of the user, the state directory, a temporary directory. Throws
 * when none is.
 */
function prepareSocketPlace(stateDir: string, env: Environment): SocketPlace {
  const name = createHash('sha256').update(realpathSync(stateDir)).digest('hex').slice(0, NAME_DIGITS)
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\shelfd-${name}`, passedOver: [] }
  const passedOver: string[] = []
  for (const candidate of listCandidates(stateDir, env)) {
    const path = join(candidate.directory, `${name}.sock`)
    const trouble = prepare(candidate, path)
    if (trouble === undefined) return { path, passedOver }
    passedOver.push(`${candidate.directory}: ${trouble}`)
  }
  throw new Error(`Cannot create the control socket: no directory can hold it (${passedOver.join('; ')})`)
}

/** Throws when `path` is no socket of mode 0600 afterwards. */
function closeToOthers(path: string): void {
  if (process.platform === 'win32') return
  chmodSync(path, 0o600)
  const found = lstatSync(path)
  if (!found.isSocket() || (found.mode & 0o777) !== 0o600) throw new Error(`"${path}" is no socket of mode 0600`)
}

function listCandidates(stateDir: string, env: Environment): Candidate[] {
  // A unit may have several runtime directories, separated by colons.
  const ofService = env.RUNTIME_DIRECTORY?.split(':')[0]
  const ofUser = env.XDG_RUNTIME_DIR
  return [
    ...(ofService ? [{ directory: ofService, isOwn: true }] : []),
    ...(ofUser ? [{ directory: join(ofUser, 'shelfd'), isOwn: true }] : []),
    { directory: realpathSync(stateDir), isOwn: false },
    { directory: join(tmpdir(), `shelfd-${process.getuid?.()}`), isOwn: true },
  ]
}

/** Removes the socket of a killed daemon; returns why the place is unusable. */
function prepare({ directory, isOwn }: Candidate, path: string): string | undefined {
  const sizeBytes = Buffer.byteLength(path)
  if (sizeBytes > MAX_PATH_BYTES) return `a path of ${sizeBytes} bytes is too long for a socket`
  try {
    if (isOwn) makePrivate(directory)
    rmSync(path, { force: true })
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Throws if another user's directory or a link has that name. */
function makePrivate(directory: string): void {
  makeDirectory(directory)
  const found = lstatSync(directory)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error('it belongs to someone else')
  if ((found.mode & 0o777) !== 0o700) chmodSync(directory, 0o700)
}

/** Creates no parent: the system does. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
  }
}
