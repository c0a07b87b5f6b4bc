import { once } from 'node:events'
import { InterruptedError, LockedError, messageOf } from '../../foundation/errors.ts'
import { faultOf } from '../../foundation/http/fault.ts'
import { createHttpServer, type RequestLimits } from '../../foundation/http/http-server.ts'
import type { Logger } from '../../foundation/logger.ts'
import { type ControlService, controlRoutes } from './routes.ts'
import { removeSocket, writeSocketPath } from './socket-file.ts'
import { closeToOthers, type Environment, prepareSocketPlace } from './socket-place.ts'
import { Syncs } from './syncs.ts'

export interface ControlServerInput extends ControlService {
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

/** How long clients may take to read their last answer when the server closes. */
const CLOSING_GRACE_MS = 1_000
const MAX_CONNECTIONS = 64

/** Listens for clients of this state directory. Throws when there is no place for the socket. */
export async function startControlServer(input: ControlServerInput): Promise<ControlServer> {
  const { stateDir, env, logger, limits } = input
  const { path, passedOver } = prepareSocketPlace(stateDir, env)
  for (const reason of passedOver) logger.info('a directory cannot hold the control socket', { reason })
  const syncs = new Syncs()
  const { server, answered, close } = createHttpServer({
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
  server.listen(path)
  await once(server, 'listening')
  closeToOthers(path)
  server.on('error', (error) => logger.warn('control socket failed', { reason: messageOf(error) }))
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
