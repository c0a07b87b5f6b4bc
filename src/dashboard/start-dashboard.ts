import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import { type CallHandlers, type CallName, dashboardCalls } from '../contract/dashboard.ts'
import { CALLS_PATH, LIVE_PATH, SIGN_IN_FRAGMENT } from '../contract/dashboard-addresses.ts'
import { systemClock } from '../foundation/clock.ts'
import { messageOf, RequestError, ShelfdError } from '../foundation/errors.ts'
import { faultOf } from '../foundation/http/fault.ts'
import { createHttpServer } from '../foundation/http/http-server.ts'
import {
  cachingOf,
  loadPageFiles,
  mediaTypeOf,
  NOT_BUILT,
  PAGE_FILES_PATH,
  PAGE_HEADERS,
  type PageFiles,
} from '../foundation/http/page-files.ts'
import { type HttpResponse, jsonResponse, parseInput, type Route, type Routes } from '../foundation/http/route.ts'
import type { Logger } from '../foundation/logger.ts'
import { answerCalls } from './answer-calls.ts'
import { Hosts } from './hosts.ts'
import { LiveStream, readLive } from './live.ts'
import { OutageTracker } from './outage-tracker.ts'
import { Sessions } from './sessions.ts'
import type { DashboardSources } from './sources.ts'
import { DashboardSyncs } from './syncs.ts'

/** The dashboard's server, for browsers on this machine. */
export interface Dashboard extends AsyncDisposable {
  /** Such as `http://127.0.0.1:41234`. */
  readonly origin: string
  /** Returns an address that signs in one browser, once, within five minutes. */
  createAddress(): string
}

const HOST = '127.0.0.1'
const MAX_CONNECTIONS = 64

/** Serves the dashboard on a free port of 127.0.0.1. */
export async function startDashboard(sources: DashboardSources, logger: Logger): Promise<Dashboard> {
  await using starting = new AsyncDisposableStack()
  const outages = new OutageTracker(() => live.refresh())
  const syncs = starting.adopt(new DashboardSyncs(sources.sync, outages), (each) => each.stop())
  const sessions = new Sessions(systemClock)
  const live = new LiveStream(() => readLive({ sources, syncs, outages }))
  const hosts = starting.use(new Hosts(sources.openFleet))
  const handlers = answerCalls({ sources, sessions, syncs, live, outages, hosts })
  let origin = ''
  const { listen, close } = createHttpServer({
    routes: dashboardRoutes(await loadPageFiles(), handlers, sessions, live),
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
 * Throws RequestError for a request of another page, also after DNS rebinding: such a page sends its own name as host or as origin.
 * Browsers send no origin with a GET of the dashboard's own page.
 */
function checkOrigin({ host, origin: from }: IncomingHttpHeaders, origin: string): void {
  const own = [origin, origin.replace(HOST, 'localhost')]
  if (!own.includes(`http://${host}`))
    throw new RequestError('request-rejected', 'Not the address of the dashboard', 403)
  if (from !== undefined && from !== `http://${host}`)
    throw new RequestError('request-rejected', 'Another page may not ask the dashboard', 403)
}

/** Returns the routes of the page, of its calls and of the live stream. All but the page's files and the sign-in need a session. */
function dashboardRoutes(
  files: PageFiles | undefined,
  handlers: CallHandlers,
  sessions: Sessions,
  live: LiveStream,
): Routes {
  const calls = Object.keys(dashboardCalls).map((name) => {
    const route = callRoute(handlers, name as CallName)
    return [`POST ${CALLS_PATH}/${name}`, name === 'signIn' ? route : requireSession(sessions, route)]
  })
  const pages = [...(files ?? [])]
    .filter(([name]) => name.startsWith('dashboard-'))
    .map(([name]) => [`GET ${PAGE_FILES_PATH}/${name}`, () => fileResponse(files, name)])
  return {
    ...Object.fromEntries([...calls, ...pages]),
    'GET /': () => fileResponse(files, 'dashboard.html'),
    [`GET ${LIVE_PATH}`]: requireSession(sessions, ({ signal }) => ({ stream: (lines) => live.stream(lines, signal) })),
  }
}

function requireSession(sessions: Sessions, route: Route): Route {
  return (request) => {
    if (!sessions.isOpen(bearerToken(request.headers))) throw new RequestError('request-rejected', NOT_SIGNED_IN, 401)
    return route(request)
  }
}

function bearerToken({ authorization = '' }: IncomingHttpHeaders): string {
  return /^Bearer (\S+)$/.exec(authorization)?.[1] ?? ''
}

const NOT_SIGNED_IN = 'You are not signed in; run "shelfd dashboard" again'

function callRoute(handlers: CallHandlers, name: CallName): Route {
  const shape: z.ZodType = dashboardCalls[name].input
  const answer = handlers[name] as (input: unknown, signal: AbortSignal) => Promise<unknown>
  return async ({ input, signal }) => jsonResponse(200, await answer(parseInput(shape, input), signal))
}

function fileResponse(files: PageFiles | undefined, name: string): HttpResponse {
  const file = files?.get(name)
  const headers = { ...PAGE_HEADERS, 'content-type': mediaTypeOf(name), 'cache-control': cachingOf(name) }
  if (file) return { status: 200, headers, body: file.body.toString('utf8') }
  return { status: 503, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${NOT_BUILT}\n` }
}
