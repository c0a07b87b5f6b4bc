import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import { type CallHandlers, type CallName, dashboardCalls } from '../contract/dashboard.ts'
import { CALLS_PATH, LIVE_PATH } from '../contract/dashboard-addresses.ts'
import { RequestError } from '../foundation/errors.ts'
import {
  cachingOf,
  mediaTypeOf,
  NOT_BUILT,
  PAGE_FILES_PATH,
  PAGE_HEADERS,
  type PageFiles,
} from '../foundation/http/page-files.ts'
import { type HttpResponse, jsonResponse, parseInput, type Route, type Routes } from '../foundation/http/route.ts'
import type { LiveStream } from './live.ts'
import type { Sessions } from './sessions.ts'

interface DashboardParts {
  readonly files: PageFiles | undefined
  readonly handlers: CallHandlers
  readonly sessions: Sessions
  readonly live: LiveStream
}

/** The page and what it asks for. Everything but the page's own files and the sign-in needs the token of a session. */
export function dashboardRoutes({ files, handlers, sessions, live }: DashboardParts): Routes {
  const calls = Object.keys(dashboardCalls).map((name) => {
    const route = callRoute(handlers, name as CallName)
    return [`POST ${CALLS_PATH}/${name}`, name === 'signIn' ? route : signedIn(sessions, route)]
  })
  const pages = [...(files ?? [])]
    .filter(([name]) => name.startsWith('dashboard-'))
    .map(([name]) => [`GET ${PAGE_FILES_PATH}/${name}`, () => fileResponse(files, name)])
  return {
    ...Object.fromEntries([...calls, ...pages]),
    'GET /': () => fileResponse(files, 'dashboard.html'),
    [`GET ${LIVE_PATH}`]: signedIn(sessions, ({ signal }) => ({ stream: (lines) => live.stream(lines, signal) })),
  }
}

function signedIn(sessions: Sessions, route: Route): Route {
  return (request) => {
    if (!sessions.isOpen(tokenIn(request.headers))) throw new RequestError('request-rejected', ENDED, 401)
    return route(request)
  }
}

function tokenIn({ authorization = '' }: IncomingHttpHeaders): string {
  return /^Bearer (\S+)$/.exec(authorization)?.[1] ?? ''
}

const ENDED = 'You are not signed in; run "shelfd dashboard" again'

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
