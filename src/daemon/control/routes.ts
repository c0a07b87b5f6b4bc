import type { z } from 'zod'
import { AccessError, RequestError } from '../../foundation/errors.ts'
import { jsonResponse, type Route, type Routes } from '../../foundation/http/route.ts'
import { describeIssue } from '../../foundation/text/describe-issue.ts'
import type { ControlHandlers } from './handlers.ts'
import { contents, libraryRequest, mirrorName, mirrorNames, nothing, stopRequest, syncRequest } from './requests.ts'
import type { Syncs } from './syncs.ts'

export interface ControlService {
  /** The origin of the daemon's service, or the data directory of its embedded library. */
  readonly service: string
  readonly handlers: ControlHandlers
}

/** The routes of the control socket. Raise `v1` with every change that an older client or daemon would misunderstand. */
export function controlRoutes({ service, handlers }: ControlService, syncs: Syncs): Routes {
  return {
    'GET /v1/status': route(nothing, () => handlers.status()),
    'POST /v1/syncs': ({ input, signal }) => {
      const request = parse(syncRequest, input)
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
  return async ({ input }) => jsonResponse(200, await answer(parse(shape, input)))
}

function parse<T>(shape: z.ZodType<T>, input: unknown): T {
  const { success, data, error } = shape.safeParse(input, { error: describeIssue })
  if (success) return data
  const [issue] = error.issues
  const text = `Cannot read the request: ${issue?.path.join('.')} ${issue?.message}`
  throw new RequestError('invalid', text, 400)
}

/** Throws AccessError `origin-mismatch` if the daemon would send to another service than the client's. */
function checkService(wanted: string, service: string): void {
  if (wanted === service) return
  const text = `The daemon uses the service "${service}", this command "${wanted}"`
  throw new AccessError('origin-mismatch', `${text}; restart the daemon with the same configuration`)
}
