import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { z } from 'zod'
import { AccessError, InterruptedError, LockedError, messageOf, systemCodeOf } from '../../foundation/errors.ts'
import { errorOf, faultOf } from '../../foundation/http/fault.ts'
import { createHttpServer, type RequestLimits } from '../../foundation/http/http-server.ts'
import { jsonResponse, parseInput, type Route, type Routes } from '../../foundation/http/route.ts'
import type { Logger } from '../../foundation/logger.ts'
import { createProgress, type Progress } from '../../sync/progress.ts'
import type { SentFile } from '../../sync/sinks.ts'
import {
  type ControlHandlers,
  failures,
  followRequest,
  mirrorName,
  mirrorNames,
  nothing,
  removal,
  type runResponse,
  type SyncRequest,
  syncRequest,
  type syncState,
} from './protocol.ts'
import { removeSocket, writeSocketPath } from './socket-file.ts'

export interface ControlServerInput {
  readonly service: string
  readonly handlers: ControlHandlers
  /** This process holds the lock of this directory, so that no other daemon listens. */
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

/** Throws when no directory can hold the socket. */
export async function startControlServer(input: ControlServerInput): Promise<ControlServer> {
  const { stateDir, env, handlers, logger, limits } = input
  const { path, passedOver } = prepareSocketPath(stateDir, env)
  for (const reason of passedOver) logger.info('a directory cannot hold the control socket', { reason })
  const syncs = new Syncs(handlers)
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
    'POST /v1/syncs': async ({ input, signal }) => {
      const request = parseInput(syncRequest, input)
      checkService(request.service, service)
      return jsonResponse(200, await syncs.run(request, signal))
    },
    'POST /v1/syncs/follow': route(followRequest, async (request) => syncs.follow(request)),
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

/** How many names of sent files are kept until the client asks again. */
const MAX_SENT_NAMES = 100_000

interface RunningSync {
  readonly stop: AbortController
  readonly progress: Progress
  readonly sent: SentFile[]
}

class Syncs {
  readonly #handlers: ControlHandlers
  readonly #running = new Map<string, RunningSync>()

  constructor(handlers: ControlHandlers) {
    this.#handlers = handlers
  }

  /** Runs a sync. It is aborted by `gone` (the client has disconnected), `follow` and `stopAll`, and still has a result then. */
  async run(request: SyncRequest, gone: AbortSignal): Promise<z.infer<typeof runResponse>> {
    const { stop, progress, sent }: RunningSync = { stop: new AbortController(), progress: createProgress(), sent: [] }
    this.#running.set(request.sync, { stop, progress, sent })
    const fileLog = {
      wouldSend() {},
      sent: (file: SentFile) => {
        if (sent.length < MAX_SENT_NAMES) sent.push(file)
      },
    }
    try {
      const signal = AbortSignal.any([gone, stop.signal])
      const { summary, outcome, failure } = await this.#handlers.sync(request, { signal, progress, fileLog })
      return { summary, outcome, failure: failure ? faultOf(failure) : null, sent }
    } finally {
      this.#running.delete(request.sync)
    }
  }

  follow({ sync, stop }: z.infer<typeof followRequest>): z.infer<typeof syncState> {
    const running = this.#running.get(sync)
    if (stop) running?.stop.abort(errorOf(stop))
    return running && { progress: running.progress, sent: running.sent.splice(0) }
  }

  stopAll(reason: Error): void {
    for (const { stop } of this.#running.values()) stop.abort(reason)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** The field of a socket's path (`sun_path`) has 104 bytes on some systems, and the last one is zero. */
const MAX_PATH_BYTES = 103
const NAME_DIGITS = 12

interface Candidate {
  readonly directory: string
  /** The daemon creates the directory, and closes it to other users. */
  readonly isOwn: boolean
}

/**
 * Returns a path in the first usable directory of these: the runtime directory of the service manager, that of the user, the state
 * directory, a temporary directory. `passedOver` says why earlier ones are unusable. Throws if all are.
 */
function prepareSocketPath(stateDir: string, env: Environment) {
  const name = createHash('sha256').update(realpathSync(stateDir)).digest('hex').slice(0, NAME_DIGITS)
  const passedOver: string[] = []
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\shelfd-${name}`, passedOver }
  for (const candidate of listCandidates(stateDir, env)) {
    const path = join(candidate.directory, `${name}.sock`)
    const problem = prepare(candidate, path)
    if (problem === undefined) return { path, passedOver }
    passedOver.push(`${candidate.directory}: ${problem}`)
  }
  throw new Error(`Cannot create the control socket: no directory can hold it (${passedOver.join('; ')})`)
}

/** Throws if `path` is not a socket of mode 0600 afterwards. */
function closeToOthers(path: string): void {
  if (process.platform === 'win32') return
  chmodSync(path, 0o600)
  const found = lstatSync(path)
  if (!found.isSocket() || (found.mode & 0o777) !== 0o600) throw new Error(`"${path}" is not a socket of mode 0600`)
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

/** Removes the socket of a killed daemon. Returns why the path is unusable; undefined if it is usable. */
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

/** Creates the directory or closes it to other users. Throws if it is a link, or belongs to another user. */
function makePrivate(directory: string): void {
  makeDirectory(directory)
  const found = lstatSync(directory)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error('it belongs to someone else')
  if ((found.mode & 0o777) !== 0o700) chmodSync(directory, 0o700)
}

/** Does not create the parent directory, which belongs to the system. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
  }
}
