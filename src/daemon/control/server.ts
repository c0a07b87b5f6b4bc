import type { z } from 'zod'
import { AccessError, InterruptedError, LockedError, messageOf } from '../../foundation/errors.ts'
import { faultOf } from '../../foundation/http/fault.ts'
import { createHttpServer, type RequestLimits } from '../../foundation/http/http-server.ts'
import { jsonResponse, parseInput, type Route, type Routes } from '../../foundation/http/route.ts'
import type { Logger } from '../../foundation/logger.ts'
import {
  type ControlHandlers,
  contents,
  libraryRequest,
  mirrorName,
  mirrorNames,
  nothing,
  stopRequest,
  syncRequest,
} from './protocol.ts'
import { removeSocket, writeSocketPath } from './socket-file.ts'
import { closeToOthers, type Environment, prepareSocketPlace } from './socket-place.ts'
import { Syncs } from './syncs.ts'

export interface ControlServerInput {
  /** The origin of the daemon's service, or the data directory of its embedded library. */
  readonly service: string
  readonly handlers: ControlHandlers
  /** This process holds its lock, so no other daemon can listen for it. */
  readonly stateDir: string
  /** For `RUNTIME_DIRECTORY` and `XDG_RUNTIME_DIR`. */
  readonly env: Environment
  readonly logger: Logger
  readonly limits?: RequestLimits
}

/** The daemon's control socket; disposing stops the syncs of clients, reports that to them, and removes the socket. */
export interface ControlServer extends AsyncDisposable {
  readonly path: string
}

/** The time in which clients may read their last response when the server closes. */
const CLOSING_GRACE_MS = 1_000
const MAX_CONNECTIONS = 64

/** Listens for clients of this state directory. Throws when there is no place for the socket. */
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

/** The routes of the control socket. Raise `v1` with every change that an older client or daemon would misunderstand. */
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
    'POST /v1/retry': route(contents, ({ contentIds }) => handlers.retry(contentIds)),
    'POST /v1/ignore': route(contents, ({ contentIds }) => handlers.ignore(contentIds)),
    'POST /v1/forget': route(mirrorName, ({ name }) => handlers.forget(name)),
    'POST /v1/library': route(libraryRequest, async (asked) => (asked.service === service ? handlers.library() : null)),
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
