import type { IncomingHttpHeaders } from 'node:http'
import { SIGN_IN_FRAGMENT } from '../contract/dashboard-addresses.ts'
import { systemClock } from '../foundation/clock.ts'
import { messageOf, RequestError, ShelfdError } from '../foundation/errors.ts'
import { faultOf } from '../foundation/http/fault.ts'
import { createHttpServer } from '../foundation/http/http-server.ts'
import { loadPageFiles } from '../foundation/http/page-files.ts'
import type { Logger } from '../foundation/logger.ts'
import { answerCalls } from './answer-calls.ts'
import { dashboardRoutes } from './dashboard-routes.ts'
import { Hosts } from './hosts.ts'
import { LiveStream, readLive } from './live.ts'
import { Sessions } from './sessions.ts'
import type { DashboardSources } from './sources.ts'
import { DashboardSyncs } from './syncs.ts'
import { Waiting } from './waiting.ts'

/** The dashboard's server, for browsers on this machine. */
export interface Dashboard extends AsyncDisposable {
  /** Such as `http://127.0.0.1:41234`. */
  readonly origin: string
  /** An address that signs in one browser, once, within five minutes. */
  createAddress(): string
}

const HOST = '127.0.0.1'
const MAX_CONNECTIONS = 64

/** Serves the dashboard on a free port of 127.0.0.1. */
export async function startDashboard(sources: DashboardSources, logger: Logger): Promise<Dashboard> {
  await using starting = new AsyncDisposableStack()
  const waiting = new Waiting(() => live.refresh())
  const syncs = starting.adopt(new DashboardSyncs(sources.sync, waiting), (each) => each.stop())
  const sessions = new Sessions(systemClock)
  const live = new LiveStream(() => readLive({ sources, syncs, waiting }))
  const hosts = starting.use(new Hosts(sources.openFleet))
  const handlers = answerCalls({ sources, sessions, syncs, live, waiting, hosts })
  let origin = ''
  const { listen, close } = createHttpServer({
    routes: dashboardRoutes({ files: await loadPageFiles(), handlers, sessions, live }),
    maxConnections: MAX_CONNECTIONS,
    checkHeaders: (headers) => checkOrigin(headers, origin),
    onError: (error) => {
      if (error instanceof ShelfdError) return faultOf(error)
      logger.error('cannot answer a request of the dashboard', { error: messageOf(error) })
      return { code: 'unexpected', message: "See shelfd's log for the cause" }
    },
  })
  origin = await listen({ host: HOST, port: 0 }, (error) =>
    logger.warn("the dashboard's server had an error", { error: error.message }),
  )
  starting.defer(() => close(0))
  const running = starting.move()
  return {
    origin,
    createAddress: () => `${origin}/${SIGN_IN_FRAGMENT}${sessions.createKey()}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/**
 * Against DNS rebinding and requests of other pages: a foreign page sends its own name as host or as origin. Browsers send no
 * origin with the page's own GET.
 */
function checkOrigin({ host, origin: from }: IncomingHttpHeaders, origin: string): void {
  const own = [origin, origin.replace(HOST, 'localhost')]
  if (!own.includes(`http://${host}`))
    throw new RequestError('request-rejected', 'Not the address of the dashboard', 403)
  if (from !== undefined && from !== `http://${host}`)
    throw new RequestError('request-rejected', 'Another page may not ask the dashboard', 403)
}
